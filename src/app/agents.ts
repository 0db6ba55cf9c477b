// The agents over an open house: models, commands, recording and the runner, wired. No vendor is loaded here.
import { systemClock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Agents } from "../agent/agent.ts";
import type { StreamModel } from "../agent/deps.ts";
import { HeartbeatService } from "../agent/heartbeat/heartbeats.ts";
import { createLedger, type Ledger } from "../agent/ledger.ts";
import { createAgents } from "../agent/runner.ts";
import { createOutbound, type Outbound } from "../channel/outbound.ts";
import { openHooks, type Hooks } from "./hooks.ts";
import { openSessions, type OpenSessions } from "./sessions.ts";
import type { Direct, IsUrgent } from "../chat/command.ts";
import { createModelBook } from "../model/book.ts";
import { createDiscovery } from "../model/discover.ts";
import type { ModelBook, ModelRef } from "../model/model.ts";
import { createStreamModel } from "../model/retry.ts";
import { usesAnthropicSubscription } from "../model/subscription.ts";
import { testModel } from "../model/test-model.ts";
import type { LiveStatus } from "../session/live-status.ts";
import type { Wake } from "../session/wake.ts";
import type { FoundModel, ModelTest } from "../protocol/methods/models.ts";
import type { CallTool } from "../tool/call.ts";
import type { GatewayServices } from "../tool/gateway-services.ts";
import type { Runtime } from "./runtime.ts";

export interface OpenAgents {
  readonly agents: Agents;
  /** For `Runtime.services`; the caller binds them together with its own. */
  readonly services: Pick<GatewayServices, "turns" | "wake" | "children" | "sessionMessages" | "liveStatus">;
  /** Tells a session something and gives it a turn to read it in. */
  readonly wake: Wake;
  readonly heartbeats: HeartbeatService;
  /** Sub-agents and talks between sessions. */
  readonly sessions: OpenSessions;
  /** Scripts of the owner that hear of events. */
  readonly hooks: Hooks;
  readonly models: ModelBook;
  readonly ledger: Ledger;
  readonly scan: () => Promise<readonly FoundModel[]>;
  readonly test: (ref: ModelRef, signal: AbortSignal) => Promise<ModelTest>;
}

export async function openAgents(
  runtime: Runtime,
  outbound: Outbound = createOutbound(new Map()),
): Promise<OpenAgents> {
  const { store, catalog, paths, env, log, mask, settings, version, services } = runtime;
  const config = () => settings.now().config;
  const discovery = createDiscovery({ env, clock: systemClock });
  const models = createModelBook({ config, env, paths, clock: systemClock, log: log.child("models"), discovery });
  const ledger = createLedger(store, systemClock);
  const recording = await recordingOf(runtime);
  const callTool = recording?.calls(runtime.callTool) ?? runtime.callTool;
  const stream = createStreamModel(models);
  const hooks = openHooks(runtime);
  // Commands load with the first message.
  const { get: chat } = lazy(async (): Promise<{ readonly direct: Direct; readonly isUrgent: IsUrgent }> => {
    const { createDirect, createIsUrgent } = await import("../chat/direct.ts");
    return {
      isUrgent: createIsUrgent({ config }),
      direct: createDirect({
        store,
        config,
        catalog,
        callTool,
        agents: () => agents,
        models,
        clock: systemClock,
        version,
        usage: ledger,
        admin: services.admin,
        overrides: () => services.bound().admin?.overrides.list() ?? [],
        children: services.children,
        onCommand: hooks.onCommand,
        approvals: runtime.commands.broker,
        undo: runtime.undo,
      }),
    };
  });
  const agents: Agents = await createAgents({
    store,
    catalog,
    callTool,
    models,
    ledger,
    streamModel: recording?.model(stream) ?? stream,
    direct: async (text, context) => (await chat()).direct(text, context),
    isUrgent: async (text, context) => (await chat()).isUrgent(text, context),
    config,
    paths,
    clock: systemClock,
    log: log.child("agent"),
    mask,
    systemEvents: runtime.commands.events,
    onBootstrap: hooks.onBootstrap,
  });
  const sessions = openSessions(runtime, models, outbound);
  const liveStatus: LiveStatus = {
    async model(agentId, override) {
      const [ref] = await models.candidates({ agentId, override });
      return ref === undefined ? undefined : { ref, credentials: (await models.ready?.(ref, agentId)) ?? 0 };
    },
    models: () => models.list(),
    used: (session) => ledger.session(session),
    active: (session) => agents.active(session).length,
  };
  const heartbeats = new HeartbeatService({
    agents,
    models,
    store,
    outbound,
    config,
    paths,
    clock: systemClock,
    log: log.child("heartbeat"),
    events: runtime.commands.events,
    usesSubscription: (agentId) => usesAnthropicSubscription(config(), agentId, paths, env),
  });
  const { wake } = heartbeats;
  const { children, sessionMessages } = sessions;
  recording?.ends(agents);
  return {
    agents,
    services: { turns: agents, wake, children, sessionMessages, liveStatus },
    hooks,
    wake,
    heartbeats,
    sessions,
    models,
    ledger,
    async scan() {
      discovery.forget();
      await discovery.find();
      return (await models.list()).flatMap(({ provider, id, ready, source }): FoundModel[] =>
        ready ? [{ provider, model: id, ready, source, ...baseUrlOf(provider) }] : [],
      );
    },
    async test(ref, signal) {
      const { ok, latencyMs: ms, ...rest } = await testModel(models, ref, signal);
      return {
        ok,
        ms,
        ...("text" in rest
          ? { text: rest.text }
          : { failure: { kind: rest.failure.kind, message: mask(rest.failure.message) } }),
      };
    },
  };

  function baseUrlOf(provider: string): { baseUrl?: string } {
    const server = discovery.known().find((found) => found.provider === provider);
    return server === undefined ? {} : { baseUrl: server.baseUrl };
  }
}

/** `OPENCLAW_RECORD=<folder>`: model and tool traffic as JSON lines, secrets masked. */
async function recordingOf({ env, mask, log }: Runtime): Promise<Recorder | undefined> {
  const folder = env["OPENCLAW_RECORD"];
  if (folder === undefined || folder === "") return undefined;
  log.info(`recording sessions into ${folder}`);
  const { openRecording, recordEnds, recordingCall, recordingModel } = await import("../agent/record-traffic.ts");
  const recording = openRecording(folder, mask, (error) => log.error("the recording could not be written", { error }));
  return {
    calls: (call) => recordingCall(call, recording),
    model: (stream) => recordingModel(stream, recording),
    ends: (agents) => void recordEnds(agents, recording),
  };
}

/** What a recording puts around calls, models and ends. */
interface Recorder {
  calls(through: CallTool): CallTool;
  model(stream: StreamModel): StreamModel;
  ends(agents: Agents): void;
}
