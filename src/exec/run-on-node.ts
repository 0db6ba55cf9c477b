// Runs a command on a paired node, which enforces its own approvals file; this side routes, asks for approval and
// reports.
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
  // Output from another machine is untrusted (docs/decisions/0025-untrusted-content-is-marked.md); details keep it
  // unchanged.
  return finished(outcome.finished, warnings, (shown) => wrapUntrusted(shown.trimEnd(), `node ${job.nodeName}`));
}

/** Judges a run that waits for approval again, by our rules and the node's file. Throws for another node or command. */
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

/** A node sends one answer when the command has ended, so these options have no effect. */
function notHere({ args }: ExecRequest): string[] {
  return [
    ...(args.pty === true ? ["pty was ignored: nodes do not support terminals."] : []),
    ...(args.background === true || args.yieldMs !== undefined
      ? ["background and yieldMs were ignored: a node answers only when the command has ended."]
      : []),
  ];
}
