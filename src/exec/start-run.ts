// Starts commands through pipes or in a terminal, marks their processes so that none is lost, and ends them as a whole.
import { join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { HostLaunch } from "./sandbox.ts";
import { createLauncher } from "./launcher.ts";
import { createOutput, type CapturedOutput } from "./output.ts";
import { createPipePool } from "./pipes.ts";
import { startPiped } from "./piped.ts";
import { MARK, ownMark } from "./proc.ts";
import { startTerminal } from "./pty.ts";
import { createRunFolder } from "./run-folder.ts";
import type { EndReason, Exit, RunOptions, Running, StartedPipeline, StartRun } from "./running.ts";
import { endTree, signalTree } from "./tree.ts";
import { createOrphanReaper } from "./orphan-reaper.ts";

export interface StartRunDeps {
  /** For pipes and output files; created on first use. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly graceMs?: number;
  readonly maxFileBytes?: number;
  readonly pendingChars?: number;
}

const GRACE_MS = 3000;
/** The longest delay of a timer; a longer limit means no limit. */
const MAX_TIMER_MS = 2_147_483_647;
/** How long to wait for the last output after all processes are gone. */
const LAST_BYTES_MS = 500;

export function createStartRun(deps: StartRunDeps): { start: StartRun; close(): Promise<void> } {
  const mark = ownMark();
  const folder = createRunFolder(deps.folder, mark);
  const reaper = createOrphanReaper(mark);
  const launcher = createLauncher();
  const pipes = createPipePool(() => folder.open(), launcher);
  const live = new Set<Running>();
  let count = 0;
  let isClosed = false;

  const start: StartRun = async (options) => {
    if (isClosed) throw new OpenClawError("exec.closed", "the gateway is shutting down", { hint: "try again later" });
    reaper.ensure();
    const id = (count += 1);
    const runMark = `${mark}.${id}`;
    const outputTo = (ending: string): CapturedOutput =>
      createOutput({
        filePath: async () => join(await folder.open(), `${id}.${ending}`),
        ...(deps.maxFileBytes === undefined ? {} : { maxFileBytes: deps.maxFileBytes }),
        ...(deps.pendingChars === undefined ? {} : { pendingChars: deps.pendingChars }),
      });
    const output = outputTo("out");
    const errors = options.errorsApart === true && options.tty === undefined ? outputTo("err") : undefined;
    const marked = options.pipeline.map((part) => ({ ...part, launch: withMark(part.launch, runMark) }));
    const started =
      options.tty === undefined
        ? await startPiped({ parts: marked, launcher, pipes, output, errors })
        : await startTerminal({ parts: marked, size: options.tty, output });
    const running = follow(started, { deps, options, output, errors, mark: runMark });
    live.add(running);
    void running.ended.then(() => live.delete(running));
    return running;
  };

  return {
    start,
    async close() {
      isClosed = true;
      await Promise.all([...live].map((running) => running.end("shutdown")));
      // Ends daemons left by commands that ended earlier.
      const rest = await endTree(
        { owns: (one) => one.startsWith(`${mark}.`), leaders: [] },
        { graceMs: graceOf(deps) },
      );
      if (rest.length > 0) deps.log.error("could not end processes", { pids: rest.map(({ pid }) => pid) });
      await launcher.close();
      await reaper.close();
      await folder.remove();
    },
  };
}

interface FollowContext {
  readonly deps: StartRunDeps;
  readonly options: RunOptions;
  readonly output: CapturedOutput;
  readonly errors: CapturedOutput | undefined;
  readonly mark: string;
}

function follow(started: StartedPipeline, { deps, options, output, errors, mark }: FollowContext): Running {
  const { clock, log } = deps;
  const first = started.leaders[0];
  let reason: EndReason | undefined;
  let ending: Promise<Exit> | undefined;
  let isOver = false;

  const ended = started.finished.then(({ code, signal }): Exit => {
    isOver = true;
    clearTimeout(timer);
    output.finish();
    errors?.finish();
    for (const { launch } of options.pipeline) launch.gone?.();
    return {
      code,
      ...(signal === undefined ? {} : { signal }),
      ...(reason === undefined ? {} : { reason }),
      endedAt: clock.now(),
    };
  });

  const tree = { owns: (one: string) => one === mark, leaders: started.leaders };
  const endAll = async (): Promise<Exit> => {
    // Callers of `end` cannot do anything about a failure, so it is logged here.
    const rest = await endTree(tree, { graceMs: graceOf(deps) }).catch((error: unknown) => {
      log.error("could not list the processes of a command", { error });
      return [];
    });
    if (rest.length > 0) log.error("could not end processes", { pids: rest.map(({ pid }) => pid) });
    for (const { launch } of options.pipeline) {
      await launch
        .end?.()
        .catch((error: unknown) => log.error("could not end what runs inside the sandbox", { error }));
    }
    const cut = setTimeout(() => started.cutOutput(), LAST_BYTES_MS);
    return ended.finally(() => clearTimeout(cut));
  };

  const running: Running = {
    pid: first?.pid ?? 0,
    startedAt: clock.now(),
    tty: started.tty,
    output,
    ...(errors === undefined ? {} : { errors }),
    write: (bytes) => started.write(bytes),
    closeInput: () => started.closeInput(),
    interrupt: (signal) => signalTree(tree, signal),
    async end(why) {
      if (!isOver) reason ??= why;
      ending ??= endAll().finally(() => {
        ending = undefined;
      });
      return ending;
    },
    ended,
    screen: () => started.screen(),
  };
  const { timeoutMs } = options;
  const timer =
    timeoutMs === undefined || timeoutMs <= 0 || timeoutMs > MAX_TIMER_MS
      ? undefined
      : setTimeout(() => {
          running
            .end("timeout")
            .catch((error: unknown) => log.error("could not end a command at its time limit", { error }));
        }, timeoutMs);
  return running;
}

const graceOf = (deps: StartRunDeps): number => deps.graceMs ?? GRACE_MS;

function withMark(launch: HostLaunch, mark: string): HostLaunch {
  return { ...launch, env: { ...launch.env, [MARK]: mark } };
}
