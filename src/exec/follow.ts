// Waits for a started command, or lets it continue in the background and notifies the session when it ends.
import type { SessionKey } from "../core/names.ts";
import type { ExecDeps, Follow } from "./exec-context.ts";
import type { ExecRequest } from "./exec-request.ts";
import type { ProcessSession } from "./processes.ts";
import { limitsOf, type ExecLimits } from "./limits.ts";
import { exitNotice, finished, TAIL_CHARS, type ExecOutcome, type Finished } from "./result.ts";
import type { Exit, Running } from "./running.ts";
import { shownTail, type TailMask } from "./shown-tail.ts";

export function createFollow(deps: ExecDeps): Follow {
  const limits = limitsOf(deps.env);
  return {
    async inTurn(request, running, cwd) {
      const { args, call, timeoutMs } = request;
      const isSynchronous = !call.allows("process");
      const warnings = [
        ...request.warnings,
        ...(isSynchronous && args.background === true ? [SYNCHRONOUS] : []),
        ...(args.pty === true && !running.tty ? [NO_TERMINAL] : []),
      ];
      const atOnce = args.background === true && !isSynchronous;
      const exit = atOnce
        ? undefined
        : await foregroundEnd(running, call.signal, isSynchronous ? undefined : yieldMsOf(request));
      if (exit === undefined) return inBackground(deps, { ...request, warnings }, running, cwd);
      const ended = endedRun(running, exit, { timeoutMs, cwd }, limits, deps.mask);
      await running.output.discard();
      return finished(ended, warnings);
    },
    async afterApproval(running, owner, { timeoutMs, noticeMs, text }) {
      const session = deps.processes.add(running, owner);
      const notify = (): void => {
        deps
          .notify(owner.session, text(session.id))
          .catch((error: unknown) => deps.log.error("could not notify the session", { error }));
      };
      const timer = noticeMs === 0 ? undefined : setTimeout(notify, noticeMs);
      const exit = await running.ended;
      clearTimeout(timer);
      return endedRun(running, exit, { timeoutMs, cwd: owner.cwd }, limits, deps.mask);
    },
  };
}

const SYNCHRONOUS = "background was ignored: the process tool is not allowed here, so the command ran until it ended.";
const NO_TERMINAL = "pty was ignored: a terminal could not be opened, so the command runs without one.";
const MAX_YIELD_MS = 3_600_000;

function yieldMsOf({ args, settings }: ExecRequest): number {
  return Math.min(args.yieldMs ?? settings.backgroundMs ?? 10_000, MAX_YIELD_MS);
}

/** Undefined when the command still runs after `yieldMs`. Aborting the call ends the command. */
async function foregroundEnd(
  running: Running,
  signal: AbortSignal,
  yieldMs: number | undefined,
): Promise<Exit | undefined> {
  const { promise: yielded, resolve } = Promise.withResolvers<undefined>();
  const timer = yieldMs === undefined ? undefined : setTimeout(() => resolve(undefined), yieldMs);
  const stop = (): void => {
    clearTimeout(timer);
    void running.end("aborted");
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([running.ended, yielded]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function endedRun(
  running: Running,
  exit: Exit,
  about: Pick<Finished, "timeoutMs" | "cwd">,
  { aggregateChars }: ExecLimits,
  mask: TailMask,
): Finished {
  const { output, startedAt } = running;
  const truncated = output.totalChars > aggregateChars;
  // Complete output is redacted later, together with the rest of the result.
  const aggregated = truncated ? shownTail(output, aggregateChars, mask, true) : output.tail(aggregateChars);
  return { exit, aggregated, truncated, startedAt, ...about };
}

function inBackground(deps: ExecDeps, request: ExecRequest, running: Running, cwd: string): ExecOutcome {
  const { args, call, route, settings, warnings } = request;
  const { agent, session } = call;
  const sandboxed = route.runsIn === "sandbox";
  const privileged = !sandboxed && (route.approvals || call.sandboxed);
  const entry = deps.processes.add(running, { agent, session, command: args.command, cwd, sandboxed, privileged });
  if (settings.notifyOnExit !== false) void notifyExit(deps, entry, running, session);
  const tail = shownTail(running.output, TAIL_CHARS, deps.mask, false);
  const { pid, startedAt } = running;
  return {
    details: { status: "running", sessionId: entry.id, pid, startedAt, cwd, tail },
    warnings,
    text: [
      `Still running in the background as ${entry.id} (pid ${pid}). Use the process tool to follow it: poll, log, write, send-keys, kill.`,
      ...(tail === "" ? [] : ["Output so far:", tail]),
    ].join("\n"),
  };
}

/** Skips the notice when the agent already knows about the end or caused it. */
async function notifyExit(deps: ExecDeps, entry: ProcessSession, running: Running, session: SessionKey): Promise<void> {
  const exit = await running.ended;
  if (entry.isExitKnown() || exit.reason === "killed" || exit.reason === "shutdown") return;
  await deps
    .notify(session, exitNotice(entry.id, exit, shownTail(running.output, TAIL_CHARS, deps.mask, true)))
    .catch((error: unknown) =>
      deps.log.error("could not notify the session that a command ended", { id: entry.id, error }),
    );
}
