// A command on a paired node: the node enforces its own file; here it is routed, asked for and reported.
import { isDeepStrictEqual } from "node:util";

import { wrapUntrusted } from "../base/untrusted-content.ts";
import { changedSince } from "./policy/freeze.ts";
import type { ExecContext, ExecDeps } from "./exec-context.ts";
import type { ExecRequest } from "./exec-request.ts";
import { rejectVariables } from "./environment.ts";
import type { NodeJob, PreparedNodeRun } from "./node-command.ts";
import { finished, type ExecOutcome } from "./result.ts";

export async function runOnNode({ deps, approvedRuns }: ExecContext, request: ExecRequest): Promise<ExecOutcome> {
  const { args, call, settings } = request;
  const warnings = [...request.warnings, ...notHere(request)];
  const { job, verdict, consent } = await prepared(deps, request);
  const noticeMs = settings.approvalRunningNoticeMs ?? 10_000;
  const ask = async (): Promise<ExecOutcome> =>
    approvedRuns.ask({ ...request, warnings }, { on: "node", args, job: await deps.nodes.hold(job), noticeMs });
  if (verdict === "ask") return ask();
  const outcome = await deps.nodes.run(job, consent, call.signal);
  if (outcome.kind === "ask") return ask();
  // Another machine wrote it (ruling 25); programs find it as it is in the details.
  return finished(outcome.finished, warnings, (shown) => wrapUntrusted(shown.trimEnd(), `node ${job.nodeName}`));
}

/** What waits for an answer, judged again by our rules and the node's own file; another node or another job throws. */
export async function recheckOnNode(deps: ExecDeps, request: ExecRequest, asked: NodeJob): Promise<void> {
  const { job } = await prepared(deps, request);
  const isSame = (["nodeId", "argv", "cwd", "env", "agent", "session"] as const).every((key) =>
    isDeepStrictEqual(job[key], asked[key]),
  );
  if (!isSame) throw changedSince(`the node or what it would start (now: ${job.nodeName})`);
}

function prepared(deps: ExecDeps, { args, call, route, timeoutMs, runId }: ExecRequest): Promise<PreparedNodeRun> {
  rejectVariables(args.env ?? {}, "node");
  const { command, workdir: cwd, env } = args;
  const { agent, session } = call;
  return deps.nodes.prepare({ route, runId, command, cwd, env, timeoutMs, agent, session });
}

/** A node answers once, with everything. */
function notHere({ args }: ExecRequest): string[] {
  return [
    ...(args.pty === true ? ["pty was ignored: nodes have no terminal for this."] : []),
    ...(args.background === true || args.yieldMs !== undefined
      ? ["background and yieldMs were ignored: a node answers when the command has ended."]
      : []),
  ];
}
