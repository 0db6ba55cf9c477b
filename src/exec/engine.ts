// Opens the engine that runs commands on this machine; loaded with the first command.
import { OpenClawError } from "../core/error.ts";
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { expandHome } from "../base/paths.ts";
import { createUsageBatch } from "./policy/usage-batch.ts";
import { childEnvironment } from "./environment.ts";
import { createExec, type ExecEngine } from "./exec.ts";
import type { ExecDeps } from "./exec-context.ts";
import { createGuard } from "./guard.ts";
import { limitsOf } from "./limits.ts";
import { createLoginPath, minimalPath, searchPath } from "./login-path.ts";
import { createNodeRuns } from "./node-command.ts";
import type { NodePort } from "./node-port.ts";
import { findProgram } from "./find-program.ts";
import type { StartProgram } from "./running.ts";
import { chooseShell } from "./shell.ts";
import { createStartRun } from "./start-run.ts";

export interface Engine {
  readonly exec: ExecEngine;
  readonly startProgram: StartProgram;
  close(): Promise<void>;
}

type Given =
  | "broker"
  | "sandboxes"
  | "processes"
  | "stateDir"
  | "guarded"
  | "guardedPaths"
  | "home"
  | "env"
  | "route"
  | "recallCall"
  | "notify"
  | "mask";

export interface EngineParts extends Pick<ExecDeps, Given> {
  readonly nodes: NodePort;
  /** For pipes and output files. */
  readonly folder: string;
  readonly log: Log;
}

/** What a program of the config may print. */
const MAX_PROGRAM_BYTES = 4 * 1024 * 1024;

export function openEngine({ nodes, folder, log, ...given }: EngineParts): Engine {
  const { env, home, stateDir } = given;
  const runs = createStartRun({ folder, clock: systemClock, log, pendingChars: limitsOf(env).pendingChars });
  const notes = createUsageBatch(stateDir, home, () => systemClock.now(), log);
  const own = env["PATH"];
  const find = (program: string): string | undefined =>
    findProgram(program, searchPath({ prepend: [], login: [], own, home }));
  const login = createLoginPath({
    shell: env["SHELL"] ?? find("sh") ?? "/bin/sh",
    env: childEnvironment({ gateway: env, call: {}, path: minimalPath }),
    log,
  });
  // Chosen once, because the shell does not change while the gateway runs.
  const shell = chooseShell(env, find);
  const guard = createGuard();
  const wholePath = async (prepend: readonly string[]): Promise<readonly string[]> =>
    searchPath({ prepend, login: await login(), own, home });
  const programs = createStartRun({ folder, clock: systemClock, log, maxFileBytes: MAX_PROGRAM_BYTES });
  const exec = createExec({
    ...given,
    guard,
    start: runs.start,
    nodes: createNodeRuns({ port: nodes, clock: systemClock }),
    clock: systemClock,
    log,
    searchPath: wholePath,
    shell: () => shell,
    noteUse: (matched, plan) => notes.note(matched, plan),
  });
  return {
    exec,
    async startProgram([command = "", ...args], cwd) {
      const path = await wholePath([]);
      const program = findProgram(expandHome(command, home), path);
      if (program === undefined)
        throw new OpenClawError("exec.not-found", `the program ${command} was not found`, {
          hint: "install it, or write its absolute path into the config",
        });
      const launch = { argv: [program, ...args], cwd, env: childEnvironment({ gateway: env, call: {}, path }) };
      return programs.start({ pipeline: [{ launch, input: "empty" }], errorsApart: true });
    },
    async close() {
      notes.close();
      await programs.close();
      await runs.close();
      guard.close();
    },
  };
}
