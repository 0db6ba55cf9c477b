// health and status in the recorded shapes. Session figures are kept for a second, so that asking often costs little.
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

export interface Vitals {
  /** Clients without `operator.read` get no facts about agents and sessions. */
  health(client: Client): Promise<Health>;
  status(): Promise<GatewayStatus>;
  /** The last health without asking the store; for hello-ok, which must not wait. */
  lastHealth(client: Client): Health;
  sessionDefaults(): SessionDefaults;
}

type BeatSettings = ReturnType<Heartbeats["settingsOf"]>;

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

export function createVitals(context: GatewayContext, heartbeats: Pick<Heartbeats, "settingsOf" | "isOn">): Vitals {
  const { clock, store, storeFile } = context;
  let figures: Figures = { at: -Infinity, count: 0, recent: [], byAgent: [] };
  let reading: Promise<Figures> | undefined;

  const readFigures = async (): Promise<Figures> => {
    const ids = agentIds(context.config());
    const byAgent = await Promise.all(
      ids.map(async (agentId) => ({
        agentId,
        count: await store.sessions.count(agentId),
        recent: await store.sessions.list({ agentId, limit: RECENT }),
      })),
    );
    const recent = await store.sessions.list({ limit: RECENT });
    return { at: clock.ticks(), count: await store.sessions.count(), recent, byAgent };
  };
  const fresh = async (): Promise<Figures> => {
    if (clock.ticks() - figures.at < FRESH_MS) return figures;
    reading ??= readFigures().finally(() => (reading = undefined));
    figures = await reading;
    return figures;
  };

  const toHealth = (client: Client, now: number, startedTicks: number): Health => ({
    ok: true,
    ts: now,
    durationMs: Math.round(clock.ticks() - startedTicks),
    channels: {},
    channelOrder: [],
    channelLabels: {},
    heartbeatSeconds: Math.round(beatOf(defaultAgentId(context.config())).everyMs / 1000),
    defaultAgentId: defaultAgentId(context.config()),
    ...(isAmong(client, "operator.read")
      ? insideOf(now)
      : { agents: [], sessions: { path: "", count: 0, recent: [] } }),
  });
  const insideOf = (now: number): Partial<Health> & Pick<Health, "agents" | "sessions"> => ({
    sandbox: sandboxNow(context),
    ...troubleOf(context),
    ...approvalsOf(context),
    ...storeProblemOf(context),
    agents: figures.byAgent.map(({ agentId, count, recent }) => ({
      agentId,
      isDefault: agentId === defaultAgentId(context.config()),
      heartbeat: beatOf(agentId),
      sessions: { path: storeFile, count, recent: recent.map((record) => toRecent(record, now)) },
    })),
    sessions: { path: storeFile, count: figures.count, recent: figures.recent.map((record) => toRecent(record, now)) },
  });

  // The default interval depends on the auth profile, which is read from a file: cached for a second.
  const beats = new Map<AgentId, { readonly config: Config; readonly at: number; readonly settings: BeatSettings }>();
  const settingsNow = (agentId: AgentId): BeatSettings => {
    const config = context.config();
    const known = beats.get(agentId);
    if (known?.config === config && clock.ticks() - known.at < FRESH_MS) return known.settings;
    const settings = heartbeats.settingsOf(agentId);
    beats.set(agentId, { config, at: clock.ticks(), settings });
    return settings;
  };

  /** In the recorded shape. */
  const beatOf = (agentId: AgentId): AgentHeartbeat => {
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
  const queuedOnMain = async (): Promise<string[]> => {
    const { session } = heartbeats.settingsOf(defaultAgentId(context.config()));
    return (await context.events.peek(session)).map(({ text }) => text);
  };

  return {
    async health(client) {
      const started = clock.ticks();
      await fresh();
      return toHealth(client, clock.now(), started);
    },
    lastHealth: (client) => toHealth(client, clock.now(), clock.ticks()),
    async status() {
      await fresh();
      const now = clock.now();
      const config = context.config();
      return {
        heartbeat: {
          defaultAgentId: defaultAgentId(config),
          agents: agentIds(config).map((agentId) => {
            const { enabled, every, everyMs } = beatOf(agentId);
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

/** Absent in the recorded shape, so only set when there is a problem. */
function troubleOf({ trouble, mask }: GatewayContext): Pick<Health, "trouble"> {
  const reason = trouble?.();
  return reason === undefined ? {} : { trouble: mask(reason) };
}

/** Only set when the owner should check the approvals file. */
function approvalsOf({ approvalsCaution }: GatewayContext): Pick<Health, "approvals"> {
  const caution = approvalsCaution?.();
  return caution === undefined ? {} : { approvals: { caution } };
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
