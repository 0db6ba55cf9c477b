// The composition of a headless node: lock, engine, commands, connection; closed in reverse. It opens no store and no tools.
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import type { Signer } from "../protocol/connect-request.ts";
import { systemClock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { acquireLock, type Lock } from "../base/lock.ts";
import type { Log } from "../base/log.ts";
import type { Env, Paths } from "../base/paths.ts";
import { approvalsPath } from "../exec/policy/file.ts";
import { lastKnownPath } from "../exec/policy/last-known.ts";
import { createUseNotes } from "../exec/policy/use-notes.ts";
import { createGuard } from "../exec/guard.ts";
import { machineGuardedPaths } from "../exec/guard/guarded-paths.ts";
import { searchPath } from "../exec/login-path.ts";
import { createStartRun } from "../exec/start-run.ts";
import { sweepOrphans } from "../exec/tree.ts";
import { createCommands } from "../node/host/commands.ts";
import type { Secret } from "../node/host/connect.ts";
import { runNodeHost } from "../node/host/host.ts";
import { createSystemRun } from "../node/host/run.ts";
import {
  nextNodeState,
  nodeLockFile,
  nodeStateFile,
  readNodeState,
  writeNodeState,
  type NodeHostOptions,
} from "../node/host/state.ts";
import type { HostWire } from "../node/host/wire-port.ts";
import { storeFileOf } from "../store/store-files.ts";
import { watchApprovals } from "../exec/policy/watch-file.ts";

export interface NodeHostParts {
  readonly paths: Paths;
  readonly env: Env;
  readonly log: Log;
  readonly requests: NodeHostOptions;
  readonly secret: Secret;
  /** Made on first use, after the lock is held. */
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
    // There only when the last one did not end in order: what it started may still run.
    if (existsSync(folder)) await sweepOrphans();
    const identity = parts.identity();
    const path = searchPath({ prepend: [], login: [], own: env["PATH"], home });
    const engine = createStartRun({ folder, clock: systemClock, log });
    const approvals = watchApprovals(stateDir, log);
    const guard = createGuard();
    const notes = createUseNotes(stateDir, home, () => systemClock.now(), log);
    try {
      const run = createSystemRun({
        start: engine.start,
        nodeId: identity.deviceId,
        stateDir,
        home,
        env,
        path,
        guarded: guardedIn(paths),
        guard,
        guardedPaths: () => machineGuardedPaths(paths, env),
        platform: process.platform,
        log,
        noteUse: (matched, plan) => notes.note(matched, plan),
      });
      const commands = createCommands({ run, stateDir, path });
      const pathEnv = path.join(":");
      await runNodeHost({ stateDir, identity, pathEnv, secret, commands, log, dial: parts.dial }, state, signal);
    } finally {
      notes.close();
      approvals.close();
      await engine.close();
      guard.close();
    }
  } finally {
    lock.release();
  }
}

/** What no command line may name by an allowlist alone. */
function guardedIn({ config, state }: Paths): readonly string[] {
  const own = ["credentials", "identity"].map((name) => join(state, name));
  const approvals = approvalsPath(state);
  return [config, approvals, lastKnownPath(approvals), nodeStateFile(state), storeFileOf(state), ...own];
}

/** Two with one key would take each other's questions. */
function ownLock(stateDir: string): Lock {
  try {
    return acquireLock(nodeLockFile(stateDir));
  } catch (cause) {
    if (!(cause instanceof OpenClawError) || cause.code !== "lock.held") throw cause;
    throw new OpenClawError("node-host.runs", `a node host already runs on ${stateDir}`, {
      cause,
      hint: "openclaw node status; a second one needs a state of its own: --profile <name>",
    });
  }
}
