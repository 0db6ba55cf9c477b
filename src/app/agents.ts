// Opens the agents for a runtime: commands, recording, runner, heartbeats and sessions. Loads no vendor.
import { systemClock } from "../base/clock.ts";
import { lazy } from "../base/lazy.ts";
import type { Agents } from "../agent/agent.ts";
import { HeartbeatService } from "../agent/heartbeat/heartbeats.ts";
import { createAskModel } from "../agent/ask-model.ts";
import { createBudgets } from "../agent/budget.ts";
import { createLedger, type Ledger } from "../agent/ledger.ts";
import { createLiveStatus } from "../agent/live-status.ts";
import { recorderOf } from "../agent/recorder.ts";
import { createAgents } from "../agent/runner.ts";
import { createOutbound, type Outbound } from "../channel/outbound.ts";
import { openHooks, type Hooks } from "./hooks.ts";
import { openUnderstanding } from "./media.ts";
import { openSessions, type OpenSessions } from "./sessions.ts";
import type { Direct, IsUrgent } from "../agent/direct.ts";
import type { ModelBook } from "../model/model.ts";
import { createStreamModel } from "../model/retry.ts";
import { usesAnthropicSubscription } from "../model/subscription.ts";
import type { Wake } from "../session/wake.ts";
import type { GatewayServices } from "../tool/gateway-services.ts";
import type { Runtime } from "./runtime.ts";

export interface OpenAgents {
  readonly agents: Agents;
  /** For `Runtime.services`; the caller binds them together with its own. */
  readonly services: Pick<
    GatewayServices,
    "turns" | "wake" | "children" | "sessionMessages" | "liveStatus" | "askModel"
  >;
  /** Posts a note to a session and starts a turn that reads it. */
  readonly wake: Wake;
  readonly heartbeats: HeartbeatService;
  /** Subagents and messages between sessions. */
  readonly sessions: OpenSessions;
  /** The owner's hooks. */
  readonly hooks: Hooks;
  readonly models: ModelBook;
  readonly ledger: Ledger;
}

export async function openAgents(
  runtime: Runtime,
  outbound: Outbound = createOutbound(new Map()),
): Promise<OpenAgents> {
  const { store, catalog, paths, env, log, mask, settings, version, services, models } = runtime;
  const config = () => settings.now().config;
  const ledger = createLedger(store, systemClock);
  const budgets = createBudgets(ledger, () => systemClock.now());
  const recording = await recorderOf(env, mask, log);
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
  const askModel = createAskModel({ models, budgets, ledger, config });
  const agents: Agents = await createAgents({
    store,
    catalog,
    callTool,
    models,
    ledger,
    budgets,
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
    understandMedia: openUnderstanding(runtime, { askModel, budgets, ledger }),
  });
  const sessions = openSessions(runtime, models, outbound);
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
    services: {
      turns: agents,
      wake,
      children,
      sessionMessages,
      liveStatus: createLiveStatus(models, ledger, agents),
      askModel,
    },
    hooks,
    wake,
    heartbeats,
    sessions,
    models,
    ledger,
  };
}
