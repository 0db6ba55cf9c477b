// The engine of commands with all it needs on this machine. A file of its own, so that nobody pays for it before the first command.
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Env } from "../base/paths.ts";
import { createUseNotes } from "../exec/approval/use-notes.ts";
import { createExec, type Exec, type ExecDeps } from "../exec/exec.ts";
import { createLoginPath, searchPath } from "../exec/login-path.ts";
import { createNodeRuns } from "../exec/node-run.ts";
import type { NodePort } from "../exec/node-port.ts";
import { chooseShell } from "../exec/shell.ts";
import { createStartRun } from "../exec/start-run.ts";

export interface Engine {
  readonly exec: Exec;
  close(): Promise<void>;
}

export interface EngineParts extends Pick<
  ExecDeps,
  "desk" | "boxes" | "processes" | "stateDir" | "home" | "env" | "route" | "notify"
> {
  readonly nodes: NodePort;
  readonly folder: string;
  readonly log: Log;
}
