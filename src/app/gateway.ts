// Opens the gateway for a runtime: agents, jobs, methods, server and config reload. One call opens it, one closes it.

import { systemClock } from "../base/clock.ts";
import { announceApprovals } from "../gateway/approval-events.ts";
import { portsOf } from "../browser/profiles.ts";
import { bindingOf, type BindFlags } from "../gateway/bind.ts";
import type { GatewayContext } from "../gateway/context.ts";
import type { Served } from "../gateway/dispatch.ts";
import { openDeviceRegistry } from "../gateway/devices.ts";
import { followConfig, reloadConfig, type ConfigReload } from "../gateway/config-reload.ts";
import { createHealthReporter, type HealthReporter } from "../gateway/health.ts";
import { createHub } from "../gateway/hub.ts";
import { agentMethods } from "../gateway/methods/agents.ts";
import { approvalMethods } from "../gateway/methods/approvals.ts";
import { browserMethods } from "../gateway/methods/browser.ts";
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
import { sessionMethods } from "../gateway/methods/sessions.ts";
import { systemMethods } from "../gateway/methods/system.ts";
import { undoMethods } from "../gateway/methods/undo.ts";
import { toolMethods } from "../gateway/methods/tools.ts";
import { voiceMethods } from "../gateway/methods/voice.ts";
import { updateMethods } from "../gateway/methods/update.ts";
import { createRunEvents } from "../gateway/run-events.ts";
import { createPresence } from "../gateway/presence.ts";
import { createPresenceEvents } from "../gateway/presence-events.ts";
import { sharedSecret } from "../gateway/secret.ts";
import { createVoiceWake, type VoiceWake } from "../gateway/voice-wake.ts";
import { openBrowserControl } from "../gateway/http/browser-control.ts";
import { openGateway, type Gateway } from "../gateway/server.ts";
import { announceLater } from "../gateway/discovery/lazy.ts";
import type { McpRegistry } from "../mcp/server/registry.ts";
import { listWarnings } from "../tool/policy/warnings.ts";
import { universeOf } from "../tool/policy/universe.ts";
import { createOutbound } from "../channel/outbound.ts";
import { openAdmin, type OpenAdmin } from "../admin/admin.ts";
import type { AdminDeps, Restart } from "../admin/deps.ts";
import { openAgents, type OpenAgents } from "./agents.ts";
import { watchApprovals, type ApprovalsWatch } from "../exec/policy/watch-file.ts";
import { recoverFiles } from "./catalog.ts";
import { openCron, type OpenCron } from "./cron.ts";
import type { Runtime } from "./runtime.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

export interface RunningGateway {
  readonly gateway: Gateway;
  readonly context: GatewayContext;
  close(reason: Parameters<Gateway["close"]>[0]): Promise<void>;
}

export interface GatewayHooks {
  /** Ends this run and starts the next. */
  readonly restart: Restart;
  /** Why the config on disk is not in use, when it is not. */
  readonly configProblem?: () => string | undefined;
  /** Resources and prompts for MCP clients beside the built-in ones. */
  readonly mcp?: McpRegistry;
}

export async function openGatewayOver(
  runtime: Runtime,
  flags: BindFlags,
  hooks: GatewayHooks,
): Promise<RunningGateway> {
  const { settings, log, env } = runtime;
  const config = settings.now().config;
  const binding = bindingOf(config, env, flags, sharedSecret(config, env).value !== undefined);
  runtime.guard.reservePort(binding.port);
  await recover(runtime);
  const parts = await openParts(runtime, hooks);
  const { context, opened, admin, jobs, webhooks, vitals, voiceWake } = parts;
  let gateway: Gateway | undefined;
  let reload: ConfigReload | undefined;
  let control: ReturnType<typeof openBrowserControl> | undefined;
  let announcement: ReturnType<typeof announceLater> | undefined;
  const timers: NodeJS.Timeout[] = [];
  const close = async (reason: Parameters<Gateway["close"]>[0]): Promise<void> => {
    reload?.close();
    for (const timer of timers) clearTimeout(timer);
    await closeParts(parts);
    await Promise.all([gateway?.close(reason), control?.close(), announcement?.close()]);
  };
  try {
    gateway = await openGateway({
      context,
      agents: opened.agents,
      models: opened.models,
      vitals,
      served: servedMethods(runtime, parts),
      binding,
      serveHook: webhooks.serve,
      voiceWake,
      arriving: () => reload?.check(),
    });
    control = openBrowserControl(portsOf(gateway.port).control, { context, browser: runtime.hostBrowser });
    runtime.lock.describe({ port: gateway.port });
    warnOnce(runtime);
    // After clients can connect, because recovered approvals are shown and reports are sent again.
    await admin.recover();
    await runtime.commands.recover();
    await opened.sessions.recover();
    await webhooks.resume();
    await jobs.start();
    context.followConfig(() => jobs.reload());
    context.followConfig(() => opened.heartbeats.changed());
    opened.heartbeats.start((event) => context.hub.broadcast("heartbeat", event));
    opened.hooks.started();
    reload = followConfig(settings, context);
    parts.approvals = watchApprovals(runtime.paths.state, log.child("approvals"));
    timers.push(pruneSandboxes(runtime), warmUp(runtime));
    // The gateway works without the relay, so a port in use is only reported.
    runtime.hostBrowser.startInstalledRelay().catch((error: unknown) => log.warn(`extension relay: ${String(error)}`));
    runtime.hostBrowser.recover().catch((error: unknown) => log.warn(`browsers of the last gateway: ${String(error)}`));
    context.followConfig(() => {
      runtime.hostBrowser.reload().catch((error: unknown) => log.warn(`browser config: ${String(error)}`));
    });
    announcement = announceLater(config, { env, log: log.child("mdns"), binding, port: gateway.port });
    return { gateway, context, close };
  } catch (error) {
    // A start that failed leaves no port, run or timer behind.
    await close({ text: "the gateway could not start" });
    throw error;
  }
}

/** Everything behind the port. */
interface GatewayParts {
  readonly context: GatewayContext;
  readonly opened: OpenAgents;
  readonly admin: OpenAdmin;
  readonly jobs: OpenCron;
  readonly webhooks: Webhooks;
  readonly vitals: HealthReporter;
  readonly voiceWake: VoiceWake;
  readonly stopAnnouncing: () => void;
  /** Aborted when the runs and jobs have ended. */
  readonly closing: AbortController;
  approvals: ApprovalsWatch | undefined;
}

async function openParts(runtime: Runtime, hooks: GatewayHooks): Promise<GatewayParts> {
  const admin = openAdmin(adminDeps(runtime, hooks.restart));
  const closing = new AbortController();
  const context = await openContext(runtime, hooks, admin, {
    closing: closing.signal,
    approvalsCaution: () => parts.approvals?.caution(),
  });
  const outbound = createOutbound(new Map());
  const opened = await openAgents(runtime, outbound);
  const { agents, wake, heartbeats, services } = opened;
  runtime.commands.wakeBy(wake.notify);
  const jobs = openCron(runtime, { outbound, broadcast: (event) => context.hub.broadcast("cron", event) });
  runtime.services.bind({ ...services, admin: admin.admin, cron: jobs.agentCron });
  agents.watch(createRunEvents(context.hub, systemClock, runtime.mask));
  agents.watch(runtime.memory.onRun);
  const parts: GatewayParts = {
    context,
    opened,
    admin,
    jobs,
    webhooks: openWebhooks(runtime, { notify: wake.notify, outbound }),
    vitals: createHealthReporter(context, heartbeats),
    voiceWake: createVoiceWake(runtime.paths.state, systemClock, runtime.log),
    stopAnnouncing: announceApprovals(context.hub, context.approvals),
    closing,
    approvals: undefined,
  };
  return parts;
}

async function closeParts(parts: GatewayParts): Promise<void> {
  const { approvals, stopAnnouncing, jobs, admin, opened, webhooks, closing } = parts;
  approvals?.close();
  stopAnnouncing();
  jobs.stop();
  await admin.close();
  opened.heartbeats.close();
  opened.sessions.close();
  await webhooks.close();
  await opened.hooks.close();
  // Runs end while clients are still connected, so that they get the outcome.
  await opened.agents.close();
  await jobs.close();
  closing.abort();
}

async function openContext(
  runtime: Runtime,
  hooks: GatewayHooks,
  admin: OpenAdmin,
  { closing, approvalsCaution }: Pick<GatewayContext, "closing" | "approvalsCaution">,
): Promise<GatewayContext> {
  const { paths, env, version, log, mask, store, storeFile, catalog, callTool, commands, undo, settings } = runtime;
  const configListeners = new Set<() => void>();
  const hub = createHub(systemClock);
  const presence = createPresence(systemClock, version);
  return {
    paths,
    env,
    version,
    clock: systemClock,
    log,
    mask,
    store,
    storeFile,
    storeProblem: () => runtime.storeChecks.problem(),
    mcpCautions: runtime.mcpCautions,
    catalog,
    callTool,
    guard: runtime.guard,
    extraction: runtime.extraction,
    media: runtime.media,
    approvals: commands.broker,
    nodes: commands.nodes,
    events: commands.events,
    undo,
    devices: await openDeviceRegistry(store, systemClock),
    hub,
    presence,
    presenceEvents: createPresenceEvents(hub, presence, systemClock),
    startedAt: systemClock.now(),
    config: () => settings.now().config,
    readConfig: settings.read,
    applyConfigFile() {
      reloadConfig(runtime, hooks.restart);
      for (const listener of configListeners) listener();
    },
    followConfig(listener) {
      configListeners.add(listener);
      return () => void configListeners.delete(listener);
    },
    mcp: hooks.mcp,
    restart: hooks.restart,
    announceRestart: admin.restarts.announce,
    ...(hooks.configProblem === undefined ? {} : { configProblem: hooks.configProblem }),
    closing,
    approvalsCaution,
  };
}

function servedMethods(
  runtime: Runtime,
  { context, opened, jobs, vitals, voiceWake }: GatewayParts,
): readonly Served[] {
  const { agents, heartbeats, ledger, models } = opened;
  return [
    ...systemMethods(context, vitals, heartbeats),
    ...heartbeatMethods(heartbeats),
    ...toolMethods(context),
    ...sessionMethods(context, agents, ledger),
    ...undoMethods(context, { undo: runtime.undo, active: (session) => agents.active(session) }),
    ...agentMethods(context),
    ...memoryMethods(context, runtime.memory),
    ...chatMethods(context, agents),
    ...modelMethods(context, { models, discovery: runtime.discovery }),
    ...usageMethods(context, ledger),
    ...deviceMethods(context),
    ...nodePairingMethods(context),
    ...configMethods(context),
    ...updateMethods(context, runtime.services.admin),
    ...approvalMethods(context),
    ...nodeMethods(context, agents),
    ...voiceMethods(context, voiceWake),
    ...browserMethods(context, runtime.browser),
    ...channelMethods(context),
    ...cronMethods(jobs.cron, runtime.storeFile, runtime.mask),
  ];
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

const WARM_AFTER_MS = 3_000;

/**
 * Loads the code of turns and commands shortly after the start, so that a gateway without free descriptors, or whose
 * package is being replaced, can still run and end turns.
 */
function warmUp({ log }: Runtime): NodeJS.Timeout {
  const load = (): void => {
    Promise.all([import("../agent/run.ts"), import("../chat/direct.ts"), import("../exec/engine.ts")]).catch(
      (error: unknown) => log.warn("code of turns could not be loaded yet; the first turn tries again", { error }),
    );
  };
  return setTimeout(load, WARM_AFTER_MS).unref();
}

const PRUNE_EVERY_MS = 3_600_000;

/** Removes unused sandboxes every hour. */
function pruneSandboxes({ commands, log }: Runtime): NodeJS.Timeout {
  const prune = (): void => {
    commands.sandboxes.prune().then(
      (names) => names.length > 0 && log.info(`sandboxes removed: ${names.join(", ")}`),
      (error: unknown) => log.warn("sandboxes could not be pruned", { error }),
    );
  };
  return setInterval(prune, PRUNE_EVERY_MS).unref();
}

/** Closes interrupted work of a dead process before anything new starts. */
async function recover({ store, paths, log }: Runtime): Promise<void> {
  const [calls] = await Promise.all([
    store.journal.closeOpenEntries(),
    // Before a command can see half a patch. When it fails, the first file tool tries again.
    recoverFiles({ stateDir: paths.state }).catch((error: unknown) =>
      log.error("an interrupted change of files could not be completed or reverted", { error }),
    ),
  ]);
  if (calls > 0)
    log.warn(
      `${calls} tool ${calls === 1 ? "call was" : "calls were"} interrupted when the gateway last stopped; the outcome is unknown`,
    );
}

function warnOnce({ settings, log }: Runtime): void {
  const { warnings } = settings.loaded();
  for (const { path, message, hint } of warnings)
    log.warn(`config ${path}: ${message}`, hint === undefined ? undefined : { hint });
  for (const warning of listWarnings(settings.now().config, universeOf(settings.now().config)))
    log.warn(`config ${warning.path}: ${warning.message}`);
}
