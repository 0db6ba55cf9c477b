// Commands over an open house: boxes, approvals, nodes and notices, wired. The engine itself loads with the first command.
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
import { approvalsPath } from "../exec/policy/file.ts";
import { lastKnownPath } from "../exec/policy/last-known.ts";
import type { Sandboxes, SandboxesDeps } from "../exec/sandboxes.ts";
import { elevationOf } from "../exec/elevated.ts";
import type { Exec } from "../exec/exec.ts";
import type { ExecArgs, ExecCall } from "../exec/exec-request.ts";
import { gatewayGuardedPaths } from "../exec/guard/guarded-paths.ts";
import { createProcessTable, type ProcessTable } from "../exec/processes.ts";
import { routeExec, type Route } from "../exec/route.ts";
import { sandboxPaths } from "../exec/sandbox-paths.ts";
import { sandboxSettings } from "../exec/sandbox-settings.ts";
import { createNodes, type Nodes } from "../node/nodes.ts";
import { senderOf } from "../session/sender.ts";
import { entryOf } from "../session/session.ts";
import { createSystemEvents, type SystemEvents } from "../session/system-events.ts";
import { storeFileOf } from "../store/store-files.ts";
import type { Store } from "../store/store.ts";
import type { RecallTool } from "../tool/call.ts";
import type { Engine } from "./exec-engine.ts";
import { unauthorisedSource } from "../session/provenance.ts";

export interface OpenExec {
  readonly exec: Exec;
  readonly sandboxes: Sandboxes;
  readonly broker: ApprovalBroker;
  readonly nodes: Nodes;
  readonly processes: ProcessTable;
  readonly events: SystemEvents;
  readonly mask: Mask;
  /** Resumes the approvals of an earlier process; sessions are told about those that cannot run any more. */
  recover(): Promise<void>;
  /** Sessions are only written to until somebody can wake them. */
  wakeBy(tell: (session: SessionKey, text: string) => Promise<unknown>): void;
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
  const sandboxes = lazyBoxes({
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
  let tell: (session: SessionKey, text: string) => Promise<unknown> = events.add;
  const runs = join(paths.state, "runs");
  const opening = lazy<Engine>(async () =>
    (await import("./exec-engine.ts")).openEngine({
      broker,
      sandboxes,
      nodes,
      processes,
      folder: runs,
      stateDir: paths.state,
      guarded: guardedIn(paths),
      guardedPaths: (agent, workspace) =>
        gatewayGuardedPaths({ paths, env, config: config(), files: configFiles() }, agent, workspace),
      home: paths.home,
      env,
      log: log.child("exec"),
      mask,
      route: (args, call) => routeOf(store, args, call),
      recallCall: recallTool,
      // Kept, listed and given to a model: none of them is a place for a secret.
      async notify(session, text) {
        await tell(session, mask(text));
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
    async recover() {
      await broker.recover();
      // Its folder is there only when the last process did not end in order: what it started may still run.
      if (existsSync(runs)) await (await import("../exec/tree.ts")).sweepOrphans();
    },
    wakeBy(next) {
      tell = next;
    },
    async close() {
      broker.close();
      await (await opening.opened())?.close();
      await processes.close();
      await sandboxes.close();
    },
  };
}

/** Most of the code of boxes is for building them, and most gateways build none in their first minute. */
function lazyBoxes(deps: SandboxesDeps): Sandboxes {
  const opening = lazy<Sandboxes>(async () => (await import("../exec/sandboxes.ts")).createSandboxes(deps));
  const open = opening.get;
  return {
    of: async (who) => (await open()).of(who),
    pathsOf: (who) =>
      sandboxPaths(who, sandboxSettings(deps.config(), who.agent, deps.paths), deps.workspaceOf(who.agent)),
    list: async () => (await open()).list(),
    recreate: async (filter) => (await open()).recreate(filter),
    prune: async () => (await open()).prune(),
    close: async () => (await opening.opened())?.close(),
  };
}

async function routeOf(store: Store, args: ExecArgs, call: ExecCall): Promise<Route> {
  const { config, agent, session: sessionKey, sandboxed, subagent, senderIds, hints } = call;
  const record = await store.sessions.get(sessionKey);
  // Who sits at the session is not who speaks when a node, a hook or another session did (POL-019).
  const door = sandboxed && call.turn !== undefined ? await unauthorisedSource(store, call.turn) : undefined;
  const { channel, senders } = door === undefined ? senderOf(sessionKey, record) : { channel: door, senders: [] };
  const elevation = elevationOf({
    config,
    agent,
    channel,
    senders: door === undefined ? [...senders, ...senderIds] : [],
    subagent,
    execAllowed: true,
  });
  return routeExec({
    params: args,
    session: record === undefined ? {} : entryOf(record),
    once: { ...hints.exec, ...(hints.elevated === undefined ? {} : { elevated: hints.elevated }) },
    config,
    agent,
    sandboxed,
    elevation,
    sessionKey,
  });
}

/** What decides who may do what, and the secrets: no argument of an allowlisted program may lead there. */
function guardedIn({ config, state }: Paths): readonly string[] {
  const own = ["credentials", "identity", "hooks", ".env"].map((name) => join(state, name));
  return [config, approvalsPath(state), lastKnownPath(approvalsPath(state)), storeFileOf(state), ...own];
}
