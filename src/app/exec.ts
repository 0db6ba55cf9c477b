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
import { createApprovalDesk, type ApprovalDesk } from "../exec/approval/desk.ts";
import { approvalsPath } from "../exec/approval/file.ts";
import { lastKnownPath } from "../exec/approval/last-known.ts";
import type { Boxes, BoxesDeps } from "../exec/boxes.ts";
import { elevationOf } from "../exec/elevated.ts";
import type { Exec, ExecArgs, ExecCall } from "../exec/exec.ts";
import { gatewayPlaces } from "../exec/guard/places.ts";
import { createProcessTable, type ProcessTable } from "../exec/processes.ts";
import { routeExec, type Route } from "../exec/route.ts";
import { sandboxPlace } from "../exec/sandbox-place.ts";
import { sandboxSettings } from "../exec/sandbox-settings.ts";
import { createNodes, type Nodes } from "../node/nodes.ts";
import { speakerOf } from "../session/sender.ts";
import { entryOf } from "../session/session.ts";
import { createSystemEvents, type SystemEvents } from "../session/system-events.ts";
import { storeFileOf } from "../store/place.ts";
import type { Store } from "../store/store.ts";
import type { Engine } from "./exec-engine.ts";
import { strangersDoor } from "./owner-words.ts";

export interface OpenExec {
  readonly exec: Exec;
  readonly boxes: Boxes;
  readonly desk: ApprovalDesk;
  readonly nodes: Nodes;
  readonly processes: ProcessTable;
  readonly events: SystemEvents;
  readonly mask: Mask;
  /** Takes up approvals an earlier process left; those that cannot run any more are told to their sessions. */
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
}

export function openExec({ paths, env, store, log, mask, config, configFiles }: ExecParts): OpenExec {
  const desk = createApprovalDesk({ store, clock: systemClock, log: log.child("approvals"), mask: mask.command });
  const boxes = lazyBoxes({
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
      desk,
      boxes,
      nodes,
      processes,
      folder: runs,
      stateDir: paths.state,
      guarded: guardedIn(paths),
      places: (agent, workspace) =>
        gatewayPlaces({ paths, env, config: config(), files: configFiles() }, agent, workspace),
      home: paths.home,
      env,
      log: log.child("exec"),
      mask,
      route: (args, call) => routeOf(store, args, call),
      // Kept, listed and given to a model: none of them is a place for a secret.
      async notify(session, text) {
        await tell(session, mask(text));
      },
    }),
  );
  const engine = opening.get;
  return {
    desk,
    boxes,
    nodes,
    processes,
    events,
    mask,
    exec: {
      perform: async (args, call) => (await engine()).exec.perform(args, call),
      recheck: async (body, call) => (await engine()).exec.recheck(body, call),
    },
    // An answer may come to a question of the last process: then the engine must be there to hear it.
    async recover() {
      const told = await desk.recover();
      // Its folder is there only when the last process did not end in order: what it started may still run.
      if (existsSync(runs)) await (await import("../exec/tree.ts")).sweepOrphans();
      if (told > 0) await engine();
    },
    wakeBy(next) {
      tell = next;
    },
    async close() {
      desk.close();
      await (await opening.opened())?.close();
      await processes.close();
      await boxes.close();
    },
  };
}

/** Most of the code of boxes is for building them, and most gateways build none in their first minute. */
function lazyBoxes(deps: BoxesDeps): Boxes {
  const opening = lazy<Boxes>(async () => (await import("../exec/boxes.ts")).createBoxes(deps));
  const open = opening.get;
  return {
    of: async (who) => (await open()).of(who),
    place: (who) =>
      sandboxPlace(who, sandboxSettings(deps.config(), who.agent, deps.paths), deps.workspaceOf(who.agent)),
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
  const door = sandboxed && call.turn !== undefined ? await strangersDoor(store, call.turn) : undefined;
  const { channel, senders } = door === undefined ? speakerOf(sessionKey, record) : { channel: door, senders: [] };
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
