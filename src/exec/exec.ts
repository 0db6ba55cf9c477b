// Runs commands: routes a request, applies the rules of its host, asks for approval where needed, starts it and follows it.
import { ToolError } from "../core/error.ts";
import { loopTurn } from "../base/loop-turn.ts";
import { createApprovedRuns } from "./approved-runs.ts";
import type { ApprovedRuns, ExecContext, ExecDeps, PendingRun } from "./exec-context.ts";
import { checkCommand, createExecRequest, type ExecArgs, type ExecCall, type ExecRequest } from "./exec-request.ts";
import { createFollow } from "./follow.ts";
import type { ExecOutcome } from "./result.ts";
import { runInSandbox } from "./run-in-sandbox.ts";
import { recheckOnHost, runOnHost } from "./run-on-host.ts";
import { recheckOnNode, runOnNode } from "./run-on-node.ts";

export interface Exec {
  /** Throws ToolError with a message for the caller; `details.refused` marks a refusal by a rule. */
  perform(args: ExecArgs, call: ExecCall): Promise<ExecOutcome>;
}

export interface ExecEngine extends Exec {
  /** To be registered with the broker. */
  readonly handlers: ApprovedRuns["handlers"];
}

export function createExec(deps: ExecDeps): ExecEngine {
  const follow = createFollow(deps);
  const approvedRuns = createApprovedRuns(deps, follow, recheck);
  const context: ExecContext = { deps, follow, approvedRuns };
  const createRequest = async (args: ExecArgs, call: ExecCall): Promise<ExecRequest> =>
    createExecRequest(args, call, await deps.route(args, call));
  return {
    async perform(args, call) {
      checkCommand(args.command);
      // Judging and starting a command takes a part of a millisecond; many at once would hold up everybody else.
      await loopTurn();
      const request = await createRequest(args, call);
      if (request.route.runsIn === "node") return runOnNode(context, request);
      return request.route.runsIn === "sandbox" ? runInSandbox(context, request) : runOnHost(context, request);
    },
    handlers: approvedRuns.handlers,
  };

  /**
   * Judges a run that waits for approval again, as if `call` requested it now. Resolves when the same plan would still run
   * or be asked about; otherwise throws what a new call would throw, or how the plan differs.
   */
  async function recheck(run: PendingRun, call: ExecCall): Promise<void> {
    const request = await createRequest(run.args, call);
    const { runsIn } = request.route;
    if (runsIn === (run.on === "node" ? "host" : "node") || runsIn === "sandbox") throw movedError(run.on, request);
    if (run.on === "gateway") await recheckOnHost(deps, request, run.plan);
    else await recheckOnNode(deps, request, run.job);
  }
}

function movedError(on: PendingRun["on"], { route }: ExecRequest): ToolError {
  const now =
    route.runsIn === "sandbox" ? "in the sandbox" : route.runsIn === "node" ? "on a node" : "on the gateway host";
  const then = on === "node" ? "a node" : "the gateway host";
  return new ToolError(
    "exec.moved",
    `the approval was for ${then}, but commands of this session now run ${now} (host=${route.host})`,
    { hint: "run the command again: it is judged where it would run now", details: { refused: true } },
  );
}
