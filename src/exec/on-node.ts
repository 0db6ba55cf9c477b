// A command on a paired node: the node enforces its own file; here it is routed, asked for and reported.
import { wrapOutside } from "../base/outside.ts";
import type { Order, Room } from "./exec.ts";
import { rejectVariables } from "./environment.ts";
import { finished, type ExecOutcome } from "./result.ts";

export async function runOnNode({ deps, gated }: Room, order: Order): Promise<ExecOutcome> {
  const { args, call, route, timeoutMs, runId, settings } = order;
  rejectVariables(args.env ?? {}, "node");
  const warnings = [...order.warnings, ...notHere(order)];
  const { job, verdict, consent } = await deps.nodes.prepare({
    route,
    runId,
    command: args.command,
    cwd: args.workdir,
    env: args.env,
    timeoutMs,
    agent: call.agent,
    session: call.session,
  });
  const noticeMs = settings.approvalRunningNoticeMs ?? 10_000;
  const ask = async (): Promise<ExecOutcome> =>
    gated.ask({ ...order, warnings }, { on: "node", job: await deps.nodes.hold(job), noticeMs });
  if (verdict === "ask") return ask();
  const outcome = await deps.nodes.run(job, consent, call.signal);
  if (outcome.kind === "ask") return ask();
  // Another machine wrote it (ruling 25); programs find it as it is in the details.
  return finished(outcome.finished, warnings, (shown) => wrapOutside(shown.trimEnd(), `node ${job.nodeName}`));
}

/** A node answers once, with everything. */
function notHere({ args }: Order): string[] {
  return [
    ...(args.pty === true ? ["pty was ignored: nodes have no terminal for this."] : []),
    ...(args.background === true || args.yieldMs !== undefined
      ? ["background and yieldMs were ignored: a node answers when the command has ended."]
      : []),
  ];
}
