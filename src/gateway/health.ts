// health and status in the recorded shapes. Session figures are cached for a second, so that frequent requests are cheap.
import type { SessionRecord } from "../store/store.ts";
import { agentIds, defaultAgentId, mainKeyOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { mainSessionKey, type AgentId } from "../core/names.ts";
import type { SessionDefaults } from "../protocol/connect.ts";
import type {
  AgentHeartbeat,
  GatewayStatus,
  Health,
  SessionFigures,
  StatusSessionRow,
} from "../protocol/methods/system.ts";
import { entryOf } from "../session/session.ts";
import type { Client } from "./client.ts";
import type { GatewayContext } from "./context.ts";
import type { Heartbeats } from "../agent/heartbeat/heartbeats.ts";
import { isAmong } from "./hub.ts";
import { sandboxNow } from "./sandbox-state.ts";

export interface HealthReporter {
  /** Clients without `operator.read` get no facts about agents and sessions. */
  health(client: Client): Promise<Health>;
  status(): Promise<GatewayStatus>;
  /** The last health without a query to the store; for hello-ok, which must not wait. */
  lastHealth(client: Client): Health;
  sessionDefaults(): SessionDefaults;
}

type HeartbeatSettings = ReturnType<Heartbeats["settingsOf"]>;

const RECENT = 5;
const FRESH_MS = 1000;

interface Figures {
  readonly at: number;
  readonly count: number;
  readonly recent: readonly SessionRecord[];
  readonly byAgent: readonly {
    readonly agentId: AgentId;
    readonly count: number;
    readonly recent: readonly SessionRecord[];
  }[];
}

export function createHealthReporter(
  context: GatewayContext,
  heartbeats: Pick<Heartbeats, "settingsOf" | "isOn">,
): HealthReporter {
  const { clock, storeFile } = context;
  const heartbeatOf = createHeartbeatFacts(context, heartbeats);
  const cache = createFigures(context);

  const toHealth = (client: Client, now: number, startedTicks: number): Health => ({
    ok: true,
    ts: now,
    durationMs: Math.round(clock.ticks() - startedTicks),
    channels: {},
    channelOrder: [],
    channelLabels: {},
    heartbeatSeconds: Math.round(heartbeatOf(defaultAgentId(context.config())).everyMs / 1000),
    defaultAgentId: defaultAgentId(context.config()),
    ...(isAmong(client, "operator.read")
      ? insideOf(now)
      : { agents: [], sessions: { path: "", count: 0, recent: [] } }),
  });
  const insideOf = (now: number): Partial<Health> & Pick<Health, "agents" | "sessions"> => ({
    sandbox: sandboxNow(context),
    ...troubleOf(context),
    ...approvalsOf(context),
    ...mcpOf(context),
    ...storeProblemOf(context),
    agents: cache.last().byAgent.map(({ agentId, count, recent }) => ({
      agentId,
      isDefault: agentId === defaultAgentId(context.config()),
      heartbeat: heartbeatOf(agentId),
      sessions: { path: storeFile, count, recent: recent.map((record) => toRecent(record, now)) },
    })),
    sessions: sessionFigures(cache.last(), now),
  });

  const sessionFigures = ({ count, recent }: Figures, now: number): SessionFigures => ({
    path: storeFile,
    count,
    recent: recent.map((record) => toRecent(record, now)),
  });
  const queuedOnMain = async (): Promise<string[]> => {
    const { session } = heartbeats.settingsOf(defaultAgentId(context.config()));
    return (await context.events.peek(session)).map(({ text }) => text);
  };

  return {
    async health(client) {
      const started = clock.ticks();
      await cache.fresh();
      return toHealth(client, clock.now(), started);
    },
    lastHealth: (client) => toHealth(client, clock.now(), clock.ticks()),
    async status() {
      const figures = await cache.fresh();
      const now = clock.now();
      const config = context.config();
      return {
        heartbeat: {
          defaultAgentId: defaultAgentId(config),
          agents: agentIds(config).map((agentId) => {
            const { enabled, every, everyMs } = heartbeatOf(agentId);
            return { agentId, enabled, every, everyMs: enabled ? everyMs : null };
          }),
        },
        channelSummary: [],
        queuedSystemEvents: await queuedOnMain(),
        sessions: {
          paths: [storeFile],
          count: figures.count,
          defaults: { model: null, contextTokens: null },
          recent: figures.recent.map((record) => toStatusRow(record, now)),
          byAgent: figures.byAgent.map(({ agentId, count, recent }) => ({
            agentId,
            path: storeFile,
            count,
            recent: recent.map((record) => toStatusRow(record, now)),
          })),
        },
      };
    },
    sessionDefaults() {
      const config = context.config();
      const mainKey = mainKeyOf(config);
      const agent = defaultAgentId(config);
      return {
        defaultAgentId: agent,
        mainKey,
        mainSessionKey: mainSessionKey(agent, mainKey),
        scope: config.session?.scope ?? "per-sender",
      };
    },
  };
}

/** Session figures, read from the store at most once per second. */
function createFigures({ clock, config, store }: GatewayContext): {
  fresh(): Promise<Figures>;
  last(): Figures;
} {
  let figures: Figures = { at: -Infinity, count: 0, recent: [], byAgent: [] };
  let reading: Promise<Figures> | undefined;
  const read = async (): Promise<Figures> => {
    const byAgent = await Promise.all(
      agentIds(config()).map(async (agentId) => ({
        agentId,
        count: await store.sessions.count(agentId),
        recent: await store.sessions.list({ agentId, limit: RECENT }),
      })),
    );
    const recent = await store.sessions.list({ limit: RECENT });
    return { at: clock.ticks(), count: await store.sessions.count(), recent, byAgent };
  };
  return {
    async fresh() {
      if (clock.ticks() - figures.at < FRESH_MS) return figures;
      reading ??= read().finally(() => (reading = undefined));
      figures = await reading;
      return figures;
    },
    last: () => figures,
  };
}

/** The heartbeat of an agent in the recorded shape. */
function createHeartbeatFacts(
  context: GatewayContext,
  heartbeats: Pick<Heartbeats, "settingsOf" | "isOn">,
): (agentId: AgentId) => AgentHeartbeat {
  const { clock } = context;
  // The default interval depends on the auth profile, which is read from a file: cached for a second.
  const settingsByAgent = new Map<
    AgentId,
    { readonly config: Config; readonly at: number; readonly settings: HeartbeatSettings }
  >();
  const settingsNow = (agentId: AgentId): HeartbeatSettings => {
    const config = context.config();
    const known = settingsByAgent.get(agentId);
    if (known?.config === config && clock.ticks() - known.at < FRESH_MS) return known.settings;
    const settings = heartbeats.settingsOf(agentId);
    settingsByAgent.set(agentId, { config, at: clock.ticks(), settings });
    return settings;
  };

  return (agentId) => {
    const { enabled, every, everyMs, prompt, target, ackMaxChars } = settingsNow(agentId);
    const isOn = enabled && heartbeats.isOn();
    return {
      enabled: isOn,
      every: isOn ? every : "disabled",
      everyMs: isOn ? everyMs : 0,
      prompt,
      target,
      ackMaxChars,
    };
  };
}

/** Absent in the recorded shape, so only set when there is a problem. */
function troubleOf({ configProblem, mask }: GatewayContext): Pick<Health, "trouble"> {
  const reason = configProblem?.();
  return reason === undefined ? {} : { trouble: mask(reason) };
}

/** Only set when the owner should check the approvals file. */
function approvalsOf({ approvalsCaution }: GatewayContext): Pick<Health, "approvals"> {
  const caution = approvalsCaution?.();
  return caution === undefined ? {} : { approvals: { caution } };
}

function mcpOf({ mcpCautions }: GatewayContext): Pick<Health, "mcp"> {
  const cautions = mcpCautions?.() ?? [];
  return cautions.length === 0 ? {} : { mcp: { cautions } };
}

function storeProblemOf({ storeProblem, mask }: GatewayContext): Pick<Health, "store"> {
  const problem = storeProblem?.();
  return problem === undefined ? {} : { store: { ok: false, problem: mask(problem) } };
}

function toRecent({ key, updatedAt }: SessionRecord, now: number): SessionFigures["recent"][number] {
  return { key, updatedAt, age: now - updatedAt };
}

function toStatusRow(record: SessionRecord, now: number): StatusSessionRow {
  const entry = entryOf(record);
  const total = entry.totalTokens ?? 0;
  const context = entry.contextTokens ?? 0;
  return {
    agentId: record.agentId,
    key: record.key,
    kind: "direct",
    sessionId: record.sessionId,
    updatedAt: record.updatedAt,
    age: now - record.updatedAt,
    totalTokens: total,
    remainingTokens: Math.max(0, context - total),
    percentUsed: context === 0 ? 0 : Math.round((total / context) * 100),
    model: entry.modelOverride ?? entry.model ?? null,
    contextTokens: context,
    flags: [`id:${record.sessionId}`],
  };
}
