// The engine of commands with all it needs on this machine. A file of its own: nobody pays for it before the first command.
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { createUseNotes } from "../exec/policy/use-notes.ts";
import { childEnvironment } from "../exec/environment.ts";
import { createExec, type ExecEngine } from "../exec/exec.ts";
import type { ExecDeps } from "../exec/exec-context.ts";
import { createGuard } from "../exec/guard.ts";
import { limitsOf } from "../exec/limits.ts";
import { createLoginPath, minimalPath, searchPath } from "../exec/login-path.ts";
import { createNodeRuns } from "../exec/node-command.ts";
import type { NodePort } from "../exec/node-port.ts";
import { findProgram } from "../exec/find-program.ts";
import { chooseShell } from "../exec/shell.ts";
import { createStartRun } from "../exec/start-run.ts";

export interface Engine {
  readonly exec: ExecEngine;
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

export function openEngine({ nodes, folder, log, ...given }: EngineParts): Engine {
  const { env, home, stateDir } = given;
  const runs = createStartRun({ folder, clock: systemClock, log, pendingChars: limitsOf(env).pendingChars });
  const notes = createUseNotes(stateDir, home, () => systemClock.now(), log);
  const own = env["PATH"];
  const find = (program: string): string | undefined =>
    findProgram(program, searchPath({ prepend: [], login: [], own, home }));
  const login = createLoginPath({
    shell: env["SHELL"] ?? find("sh") ?? "/bin/sh",
    env: childEnvironment({ gateway: env, call: {}, path: minimalPath }),
    log,
  });
  // Asked once: a gateway does not move while it runs.
  const shell = chooseShell(env, find);
  const guard = createGuard();
  const exec = createExec({
    ...given,
    guard,
    start: runs.start,
    nodes: createNodeRuns({ port: nodes, clock: systemClock }),
    clock: systemClock,
    log,
    searchPath: async (prepend) => searchPath({ prepend, login: await login(), own, home }),
    shell: () => shell,
    noteUse: (matched, plan) => notes.note(matched, plan),
  });
  return {
    exec,
    async close() {
      notes.close();
      await runs.close();
      guard.close();
    },
  };
}
