// Opens a headless node: lock, engine, browsers, commands, connection; closes them in reverse. It opens no store and no tools.
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { Signer } from "../../protocol/connect-request.ts";
import { systemClock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { acquireLock, type Lock } from "../../base/lock.ts";
import type { Log } from "../../base/log.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { createUsageBatch } from "../../exec/policy/usage-batch.ts";
import { createGuard } from "../../exec/guard.ts";
import { nodeGuardedFiles } from "../../exec/guard/guarded-files.ts";
import { machineGuardedPaths } from "../../exec/guard/guarded-paths.ts";
import { searchPath } from "../../exec/login-path.ts";
import { createStartRun } from "../../exec/start-run.ts";
import { sweepOrphans } from "../../exec/tree.ts";
import { createCommands } from "./commands.ts";
import type { Secret } from "./connect.ts";
import { runNodeHost } from "./host.ts";
import { openNodeBrowser } from "./open-browser.ts";
import { createSystemRun } from "./run.ts";
import {
  nextNodeState,
  nodeLockFile,
  nodeStateFile,
  readNodeState,
  writeNodeState,
  type NodeHostOptions,
} from "./state.ts";
import type { HostWire } from "./wire-port.ts";
import { watchApprovals } from "../../exec/policy/watch-file.ts";

export interface NodeHostParts {
  readonly paths: Paths;
  readonly env: Env;
  readonly log: Log;
  readonly requests: NodeHostOptions;
  readonly secret: Secret;
  /** Created with its first use, after the lock is acquired. */
  readonly identity: () => Signer;
  readonly dial: () => Promise<HostWire>;
}

/** Runs until `signal` aborts. */
export async function openNodeHost(parts: NodeHostParts, signal: AbortSignal): Promise<void> {
  const { paths, env, log, requests, secret } = parts;
  const { state: stateDir, home } = paths;
  const lock = ownLock(stateDir);
  try {
    const state = nextNodeState(readNodeState(stateDir), requests, { newId, hostName: hostname() || "node" });
    writeNodeState(stateDir, state);
    const folder = join(stateDir, "runs");
    // The folder exists only when the last process was killed; its commands may still run.
    if (existsSync(folder)) await sweepOrphans();
    const identity = parts.identity();
    const path = searchPath({ prepend: [], login: [], own: env["PATH"], home });
    const engine = createStartRun({ folder, clock: systemClock, log });
    const approvals = watchApprovals(stateDir, log);
    const guard = createGuard();
    const notes = createUsageBatch(stateDir, home, () => systemClock.now(), log);
    const browser = openNodeBrowser({ paths, env, log: log.child("browser") });
    try {
      const run = createSystemRun({
        start: engine.start,
        nodeId: identity.deviceId,
        stateDir,
        home,
        env,
        path,
        guarded: nodeGuardedFiles(paths, nodeStateFile(stateDir)),
        guard,
        guardedPaths: () => machineGuardedPaths(paths, env),
        platform: process.platform,
        log,
        noteUse: (matched, plan) => notes.note(matched, plan),
      });
      const commands = createCommands({ run, stateDir, path, browser: browser.command });
      const pathEnv = path.join(":");
      await runNodeHost({ stateDir, identity, pathEnv, secret, commands, log, dial: parts.dial }, state, signal);
    } finally {
      await browser.close();
      notes.close();
      approvals.close();
      await engine.close();
      guard.close();
    }
  } finally {
    lock.release();
  }
}

/** Two hosts with one key would receive each other's requests. */
function ownLock(stateDir: string): Lock {
  try {
    return acquireLock(nodeLockFile(stateDir));
  } catch (cause) {
    if (!(cause instanceof OpenClawError) || cause.code !== "lock.held") throw cause;
    throw new OpenClawError("node-host.runs", `a node host already runs on ${stateDir}`, {
      cause,
      hint: "openclaw node status; a second one needs its own state: --profile <name>",
    });
  }
}
