// Opens command execution: sandboxes, approvals, nodes and notices. The engine loads with the first command.
import { existsSync } from "node:fs";
import { join } from "node:path";

import type { SessionKey } from "../core/names.ts";
import { systemClock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import { agentConfig, workspaceOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { createApprovalBroker, type ApprovalBroker } from "../approval/broker.ts";
import { createLazySandboxes } from "../exec/lazy-sandboxes.ts";
import type { Sandboxes } from "../exec/sandboxes.ts";
import type { Exec } from "../exec/exec.ts";
import { gatewayGuardedFiles } from "../exec/guard/guarded-files.ts";
import { gatewayGuardedPaths } from "../exec/guard/guarded-paths.ts";
import { createProcessTable, type ProcessTable } from "../exec/processes.ts";
import type { StartProgram } from "../exec/running.ts";
import { createNodes, type Nodes } from "../node/nodes.ts";
import { createSystemEvents, type SystemEvents } from "../session/system-events.ts";
import type { Store } from "../store/store.ts";
import type { RecallTool } from "../tool/call.ts";
import { routeOfCall } from "../tool/exec-route.ts";
import type { Engine } from "../exec/engine.ts";

export interface OpenExec {
  readonly exec: Exec;
  readonly startProgram: StartProgram;
  readonly sandboxes: Sandboxes;
  readonly broker: ApprovalBroker;
  readonly nodes: Nodes;
  readonly processes: ProcessTable;
  readonly events: SystemEvents;
  readonly mask: Mask;
  /** Resumes the approvals of an earlier process, and notifies sessions about those that can no longer run. */
  recover(): Promise<void>;
  /** From then on notices also wake their session; before, they are only stored. */
  wakeBy(notify: (session: SessionKey, text: string) => Promise<unknown>): void;
  close(): Promise<void>;
}

export interface ExecParts {
  readonly paths: Paths;
  readonly env: Env;
  readonly store: Store;
  readonly log: Log;
  readonly mask: Mask;
  readonly config: () => Config;
  /** The config and the files it includes. */
  readonly configFiles: () => readonly string[];
  readonly recallTool: RecallTool;
}

export function openExec(parts: ExecParts): OpenExec {
  const { paths, env, store, log, mask, config, configFiles, recallTool } = parts;
  const broker = createApprovalBroker({ store, clock: systemClock, log: log.child("approvals"), mask: mask.command });
  const sandboxes = createLazySandboxes({
    paths,
    env,
    config,
    log: log.child("sandbox"),
    clock: systemClock,
    workspaceOf: (agent) => workspaceOf(config(), agent, paths),
  });
  const nodes = createNodes();
  const processes = createProcessTable({
    clock: systemClock,
    log: log.child("exec"),
    cleanupMs: (agent) => agentConfig(config(), agent)?.tools?.exec?.cleanupMs ?? config().tools?.exec?.cleanupMs,
  });
  const events = createSystemEvents(store.kv, () => systemClock.now());
  let notify: (session: SessionKey, text: string) => Promise<unknown> = events.add;
  const runs = join(paths.state, "runs");
  const opening = lazy<Engine>(async () =>
    (await import("../exec/engine.ts")).openEngine({
      broker,
      sandboxes,
      nodes,
      processes,
      folder: runs,
      stateDir: paths.state,
      guarded: gatewayGuardedFiles(paths),
      guardedPaths: (agent, workspace) =>
        gatewayGuardedPaths({ paths, env, config: config(), files: configFiles() }, agent, workspace),
      home: paths.home,
      env,
      log: log.child("exec"),
      mask,
      route: (args, call) => routeOfCall(store, args, call),
      recallCall: recallTool,
      // Notices are stored and read by a model, so they must not contain secrets.
      async notify(session, text) {
        await notify(session, mask(text));
      },
    }),
  );
  const engine = opening.get;
  broker.register("exec", async () => (await engine()).exec.handlers.exec);
  broker.register("node", async () => (await engine()).exec.handlers.node);
  return {
    broker,
    sandboxes,
    nodes,
    processes,
    events,
    mask,
    exec: {
      perform: async (args, call) => (await engine()).exec.perform(args, call),
    },
    startProgram: async (argv, cwd) => (await engine()).startProgram(argv, cwd),
    async recover() {
      await broker.recover();
      // The folder exists only when the last process was killed; its commands may still run.
      if (existsSync(runs)) await (await import("../exec/tree.ts")).sweepOrphans();
    },
    wakeBy(next) {
      notify = next;
    },
    async close() {
      broker.close();
      await (await opening.opened())?.close();
      await processes.close();
      await sandboxes.close();
    },
  };
}
