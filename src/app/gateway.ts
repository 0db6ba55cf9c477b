// The gateway over an open house: devices, presence, methods, server, config reload. One call opens, one closes.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

import type { Agents } from "../agent/agent.ts";
import { OpenClawError } from "../core/error.ts";
import { systemClock } from "../base/clock.ts";
import { planReload } from "../config/reload.ts";
import { watchConfig } from "../config/watch.ts";
import { announceApprovals } from "../gateway/approval-events.ts";
import { bindingOf, type BindFlags } from "../gateway/bind.ts";
import type { GatewayContext } from "../gateway/context.ts";
import { openDeviceBook } from "../gateway/devices.ts";
import { createVitals } from "../gateway/health.ts";
import { createHub } from "../gateway/hub.ts";
import { agentMethods } from "../gateway/methods/agents.ts";
import { approvalMethods } from "../gateway/methods/approvals.ts";
import { chatMethods } from "../gateway/methods/chat.ts";
import { channelMethods } from "../gateway/methods/channels.ts";
import { configMethods } from "../gateway/methods/config.ts";
import { cronMethods } from "../gateway/methods/cron.ts";
import { deviceMethods } from "../gateway/methods/devices.ts";
import { memoryMethods } from "../gateway/methods/memory.ts";
import { nodePairingMethods } from "../gateway/methods/node-pairing.ts";
import { nodeMethods } from "../gateway/methods/nodes.ts";
import { heartbeatMethods } from "../gateway/methods/heartbeat.ts";
import { modelMethods } from "../gateway/methods/models.ts";
import { usageMethods } from "../gateway/methods/usage.ts";
import { sessionMethods, type SessionWork } from "../gateway/methods/sessions.ts";
import { systemMethods } from "../gateway/methods/system.ts";
import { undoMethods } from "../gateway/methods/undo.ts";
import { toolMethods } from "../gateway/methods/tools.ts";
import { voiceMethods } from "../gateway/methods/voice.ts";
import { updateMethods } from "../gateway/methods/update.ts";
import { createRunEvents } from "../gateway/run-events.ts";
import { createPresence } from "../gateway/presence.ts";
import { createPresenceEvents } from "../gateway/presence-events.ts";
import { sharedSecret } from "../gateway/secret.ts";
import { createVoiceWake } from "../gateway/voice-wake.ts";
import { openGateway, type Gateway } from "../gateway/server.ts";
import { listWarnings } from "../tool/policy/warnings.ts";
import { coreTools } from "../tool/policy/groups.ts";
import { createOutbound } from "../channel/outbound.ts";
import { openAdmin } from "../admin/admin.ts";
import type { AdminDeps, Restart } from "../admin/deps.ts";
import { openAgents } from "./agents.ts";
import { watchApprovals, type ApprovalsWatch } from "../exec/policy/watch-file.ts";
import { recoverFiles } from "./catalog.ts";
import { openCron } from "./cron.ts";
import { secretsIn } from "../config/redact.ts";
import type { Runtime } from "./runtime.ts";
import { openWebhooks } from "./webhooks.ts";

export interface RunningGateway {
  readonly gateway: Gateway;
  readonly context: GatewayContext;
  close(reason: Parameters<Gateway["close"]>[0]): Promise<void>;
}

export interface GatewayHooks {
  /** Ends this run and starts the next. */
  readonly restart: Restart;
  /** Why the config on disk is not the one in force, when it is not. */
  readonly trouble?: () => string | undefined;
}

export async function openGatewayOver(
  runtime: Runtime,
  flags: BindFlags,
  hooks: GatewayHooks,
): Promise<RunningGateway> {
  const { settings, store, log, env } = runtime;
  const config = () => settings.now().config;
  const binding = bindingOf(config(), env, flags, sharedSecret(config(), env).value !== undefined);
  await recover(runtime);
  /** Parts that look at the config now and then, told to look at once. */
  const configFollowers = new Set<() => void>();
  const hub = createHub(systemClock);
  const presence = createPresence(systemClock, runtime.version);
  const admin = openAdmin(adminDeps(runtime, hooks.restart));
  const context: GatewayContext = {
    paths: runtime.paths,
    env,
    version: runtime.version,
    clock: systemClock,
    log,
    mask: runtime.mask,
    store,
    storeFile: runtime.storeFile,
    storeProblem: () => runtime.storeChecks.problem(),
    catalog: runtime.catalog,
    callTool: runtime.callTool,
    approvals: runtime.commands.broker,
    nodes: runtime.commands.nodes,
    events: runtime.commands.events,
    undo: runtime.undo,
    devices: await openDeviceBook(store, systemClock),
    hub,
    presence,
    presenceEvents: createPresenceEvents(hub, presence, systemClock),
    startedAt: systemClock.now(),
    config,
    readConfig: settings.read,
    takeOver() {
      takeOver(runtime, hooks.restart);
      for (const tell of configFollowers) tell();
    },
    restart: hooks.restart,
    announceRestart: admin.restarts.announce,
    ...(hooks.trouble === undefined ? {} : { trouble: hooks.trouble }),
    approvalsCaution: () => approvals?.caution(),
  };
  let approvals: ApprovalsWatch | undefined;
  const outbound = createOutbound(new Map());
  const {
    agents,
    wake,
    heartbeats,
    sessions,
    services,
    hooks: scripts,
    ...modelDeps
  } = await openAgents(runtime, outbound);
  runtime.commands.wakeBy(wake.tell);
  const jobs = openCron(runtime, { outbound, broadcast: (event) => context.hub.broadcast("cron", event) });
  runtime.services.bind({ ...services, admin: admin.admin, cron: jobs.agentCron });
  const stopAsking = announceApprovals(context.hub, context.approvals);
  agents.watch(createRunEvents(context.hub, systemClock, runtime.mask));
  agents.watch(runtime.memory.onRun);
  const vitals = createVitals(context, heartbeats);
  const voiceWake = createVoiceWake(runtime.paths.state, systemClock, log);
  const served = [
    ...systemMethods(context, vitals, heartbeats),
    ...heartbeatMethods(heartbeats),
    ...toolMethods(context),
    ...sessionMethods(context, sessionWork(agents), modelDeps.ledger),
    ...undoMethods(context, { undo: runtime.undo, active: (session) => agents.active(session) }),
    ...agentMethods(context),
    ...memoryMethods(context, runtime.memory),
    ...chatMethods(context, agents),
    ...modelMethods(context, modelDeps),
    ...usageMethods(context, modelDeps.ledger),
    ...deviceMethods(context),
    ...nodePairingMethods(context),
    ...configMethods(context),
    ...updateMethods(context, runtime.services.admin),
    ...approvalMethods(context),
    ...nodeMethods(context, agents),
    ...voiceMethods(context, voiceWake),
    ...channelMethods(context),
    ...cronMethods(jobs.cron, runtime.storeFile, runtime.mask),
  ];
  const webhooks = openWebhooks(runtime, { tell: wake.tell, outbound });
  const serveHook = webhooks.serve;
  let gateway: Gateway | undefined;
  let watcher: ConfigFollower | undefined;
  let pruning: NodeJS.Timeout | undefined;
  let warming: NodeJS.Timeout | undefined;
  const close = async (reason: Parameters<Gateway["close"]>[0]): Promise<void> => {
    watcher?.close();
    approvals?.close();
    clearInterval(pruning);
    clearTimeout(warming);
    stopAsking();
    jobs.stop();
    await admin.close();
    heartbeats.close();
    sessions.close();
    await webhooks.close();
    await scripts.close();
    // Runs are ended with a truthful outcome while clients can still hear it.
    await agents.close();
    await jobs.close();
    await gateway?.close(reason);
  };
  try {
    gateway = await openGateway({
      context,
      agents,
      models: modelDeps.models,
      vitals,
      served,
      binding,
      pageFolder: pageFolder(),
      serveHook,
      voiceWake,
      arriving: () => watcher?.look(),
    });
    runtime.lock.describe({ port: gateway.port });
    warnOnce(runtime);
    // After clients can connect: what an earlier process asked is asked again, what it left undone is told.
    await admin.recover();
    await runtime.commands.recover();
    await sessions.recover();
    await webhooks.resume();
    await jobs.start();
    configFollowers.add(() => jobs.reload());
    configFollowers.add(() => heartbeats.changed());
    heartbeats.start((event) => context.hub.broadcast("heartbeat", event));
    scripts.started();
    watcher = followConfig(runtime, context);
    approvals = watchApprovals(runtime.paths.state, log.child("approvals"));
    pruning = pruneBoxes(runtime);
    warming = warmUp(runtime);
    return { gateway, context, close };
  } catch (error) {
    // Nothing of a start that failed goes on behind the next try: no port, no run, no timer.
    await close({ text: "the gateway could not start" });
    throw error;
  }
}

/** Config changes and jobs both wait for approvals of kind `config`. */
function adminDeps(runtime: Runtime, restart: Restart): AdminDeps {
  const { paths, env, version, mask, store, settings, services } = runtime;
  return {
    paths,
    env,
    version,
    mask,
    store,
    settings,
    restart,
    log: runtime.log.child("admin"),
    broker: runtime.commands.broker,
    wake: services.wake,
    recallTool: runtime.recallTool,
  };
}

const STOP_MS = 15_000;

function sessionWork(agents: Agents): SessionWork {
  return {
    async stop(session, reason) {
      const stopped = agents.abort({ sessionKey: session }, reason).then(() => true);
      if (await Promise.race([stopped, sleep(STOP_MS, false, { ref: false })])) return;
      throw new OpenClawError("session.busy", `the run of ${session} does not end`, { hint: "try again in a moment" });
    },
  };
}

const WARM_AFTER_MS = 3_000;

/**
 * Code of a turn, a command and an answer is loaded before it is needed: a gateway that has no descriptors left, or whose
 * package is being replaced, can still serve and end turns. After the start, so that no client waits for it.
 */
function warmUp({ log }: Runtime): NodeJS.Timeout {
  const load = (): void => {
    Promise.all([import("../agent/run.ts"), import("../chat/direct.ts"), import("./exec-engine.ts")]).catch(
      (error: unknown) => log.warn("code of turns could not be loaded yet; the first turn tries again", { error }),
    );
  };
  return setTimeout(load, WARM_AFTER_MS).unref();
}

const PRUNE_EVERY_MS = 3_600_000;

/** Boxes nobody used for long go; nothing is looked at before the first hour is over. */
function pruneBoxes({ commands, log }: Runtime): NodeJS.Timeout {
  const prune = (): void => {
    commands.sandboxes.prune().then(
      (names) => names.length > 0 && log.info(`sandboxes removed: ${names.join(", ")}`),
      (error: unknown) => log.warn("sandboxes could not be pruned", { error }),
    );
  };
  return setInterval(prune, PRUNE_EVERY_MS).unref();
}

/** What a dead process left half done is named as such before anything new starts. */
async function recover({ store, paths, log }: Runtime): Promise<void> {
  const [calls] = await Promise.all([
    store.journal.close(),
    // Before a command can see half a patch. What cannot be put right now is tried again by the first file tool.
    recoverFiles({ stateDir: paths.state }).catch((error: unknown) =>
      log.error("a change of files that was cut off could not be put right", { error }),
    ),
  ]);
  if (calls > 0) log.warn(`${calls} tool calls were cut off by the last end of the gateway; their outcome is unknown`);
}

function warnOnce({ settings, log }: Runtime): void {
  const { warnings } = settings.loaded();
  for (const { path, message, hint } of warnings)
    log.warn(`config ${path}: ${message}`, hint === undefined ? undefined : { hint });
  for (const warning of listWarnings(settings.now().config, { core: coreTools, plugins: [] }))
    log.warn(`config ${warning.path}: ${warning.message}`);
}

/** Hot where it can be, restart where it must be, and an invalid edit changes nothing but the log. */
function takeOver({ settings, log, mask }: Runtime, restart: GatewayHooks["restart"]): void {
  const next = settings.read();
  if (next.valid && isDeepStrictEqual(next.parsed, settings.loaded().parsed)) return;
  if (!next.valid) {
    for (const { path, message, file, line, hint } of next.issues.slice(0, 10))
      log.error(`config not taken over: ${path}: ${message}`, { file, line, hint });
    return;
  }
  const mode = settings.now().config.gateway?.reload?.mode ?? "hybrid";
  const plan = planReload(settings.loaded().config, next.config, mode);
  settings.use(next, plan.restart.length + plan.ignored.length > 0);
  mask.know(secretsIn(next.config, next.env));
  if (plan.hot.length > 0) log.info(`config taken over: ${plan.hot.join(", ")}`);
  if (plan.restart.length > 0) restart(`config changed: ${plan.restart.join(", ")}`, 0);
  if (plan.ignored.length > 0)
    log.warn(`config changed, but these need a restart: ${plan.ignored.join(", ")}`, {
      hint: "openclaw gateway restart",
    });
}

interface ConfigFollower {
  /** Takes a change over that needs no restart, at once; all others in their own time. */
  look(): void;
  close(): void;
}

function followConfig(runtime: Runtime, context: GatewayContext): ConfigFollower {
  const { mode, debounceMs = 300 } = runtime.settings.now().config.gateway?.reload ?? {};
  if (mode === "off") return { look: () => {}, close: () => {} };
  const watcher = watchConfig({
    files: runtime.settings.loaded().files,
    debounceMs,
    onChange() {
      context.takeOver();
      watcher.follow(runtime.settings.loaded().files);
    },
  });
  return { look: () => watcher.look(() => isHot(runtime)), close: () => watcher.close() };
}

/** A restart in front of somebody who is just coming in would only turn them away. */
function isHot({ settings }: Runtime): boolean {
  const next = settings.read();
  const mode = settings.now().config.gateway?.reload?.mode ?? "hybrid";
  return next.valid && planReload(settings.loaded().config, next.config, mode).restart.length === 0;
}

/** Beside the bundle when it runs, else the last build beside the sources. */
function pageFolder(): string {
  const beside = fileURLToPath(new URL("./ui", import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL("../../dist/ui", import.meta.url));
}
