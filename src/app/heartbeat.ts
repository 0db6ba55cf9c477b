// Heartbeats and waking over an open house. A timer is all that runs; the rest loads with the first beat or wake.
import { systemClock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import type { Outbound } from "../channel/outbound.ts";
import { agentOfSession, defaultAgentId } from "../config/agents.ts";
import { isSubagentKey, sessionKindOf, type AgentId, type SessionKey } from "../core/names.ts";
import type { RunOutcome } from "../core/event.ts";
import type { Agents } from "../agent/agent.ts";
import type { BeatDeps } from "../agent/heartbeat/beat.ts";
import { beatingAgents, heartbeatSettings, isBeating, mayBeat } from "../agent/heartbeat/settings.ts";
import { startHeartbeatTimer, type HeartbeatTimer } from "../agent/heartbeat/timer.ts";
import type { Report } from "../agent/heartbeat/turn.ts";
import { createWake, WAKE_PROMPT } from "../agent/wake.ts";
import type { HeartbeatEvent, Heartbeats } from "../gateway/heartbeats.ts";
import type { ModelBook } from "../model/model.ts";
import { usesAnthropicSubscription } from "../model/subscription.ts";
import type { Wake, WakeMode } from "../session/wake.ts";
import type { Runtime } from "./runtime.ts";

export interface OpenHeartbeats extends Heartbeats {
  readonly wake: Wake;
  /** Begins the regular beats; each is announced. */
  start(announced: (event: HeartbeatEvent) => void): void;
  close(): void;
}

const SPACE = "heartbeat";

export function openHeartbeats(
  runtime: Runtime,
  agents: Agents,
  models: ModelBook,
  outbound: Outbound,
): OpenHeartbeats {
  const { store, settings, paths, env } = runtime;
  const log = runtime.log.child("heartbeat");
  const config = () => settings.now().config;
  const usesSubscription = (agentId: AgentId): boolean => usesAnthropicSubscription(config(), agentId, paths, env);
  const closing = new AbortController();
  let announce: (event: HeartbeatEvent) => void = () => {};
  let timer: HeartbeatTimer | undefined;
  let isOn: boolean | undefined;
  let saidNoModel = false;
  /** By agent: the beat whose waiting was told already. */
  const toldBusy = new Map<AgentId, string>();

  const switchedOn = async (): Promise<boolean> => (isOn ??= (await store.kv.get(SPACE, "enabled")) !== false);
  const deps = (): BeatDeps => ({
    agents,
    models,
    store,
    outbound,
    config,
    paths,
    clock: systemClock,
    log,
    events: runtime.commands.events,
    isOn: switchedOn,
    closing: closing.signal,
  });
  const tell = async (agentId: AgentId, startedAt: number, report: Report): Promise<void> => {
    if (closing.signal.aborted) return;
    const event: HeartbeatEvent = {
      ts: systemClock.now(),
      ...report,
      durationMs: systemClock.now() - startedAt,
      agentId,
    };
    if (report.reason === "no-model") {
      if (!saidNoModel) log.debug("no model is set up: heartbeats wait for one", { agentId });
      saidNoModel = true;
    } else log.debug("heartbeat", { ...event });
    await store.kv.set(SPACE, "last", event);
    const { visibilityOf } = await import("../agent/heartbeat/target.ts");
    const route = report.channel === undefined ? undefined : { channel: report.channel };
    if (visibilityOf(config(), route).useIndicator) announce(event);
  };
  const beatOf = async (agentId: AgentId, runId: string): Promise<"over" | "busy"> => {
    const { beat } = await import("../agent/heartbeat/beat.ts");
    const startedAt = systemClock.now();
    const report = await beat(deps(), heartbeatSettings(config(), agentId, usesSubscription), runId);
    const isBusy = report.reason === "requests-in-flight";
    if (!isBusy || toldBusy.get(agentId) !== runId) await tell(agentId, startedAt, report);
    if (isBusy) toldBusy.set(agentId, runId);
    return isBusy ? "busy" : "over";
  };
  const wakeTurn = async (session: SessionKey): Promise<RunOutcome | undefined> => {
    // A session made for one task that was put away: begun anew, it would not know what it was limited to.
    if (isForOneTask(session) && (await store.sessions.get(session)) === undefined) return undefined;
    const { runSystemTurn } = await import("../agent/heartbeat/turn.ts");
    const agentId = agentOf(session);
    const startedAt = systemClock.now();
    const { outcome, report } = await runSystemTurn(deps(), {
      runId: newId(),
      session,
      text: WAKE_PROMPT,
      settings: heartbeatSettings(config(), agentId, usesSubscription),
      regular: false,
    });
    await tell(agentId, startedAt, report);
    return outcome;
  };
  const agentOf = (session: SessionKey): AgentId => agentOfSession(session, config());
  const wake = createWake({
    turns: () => agents,
    models,
    events: runtime.commands.events,
    agentOf,
    turn: wakeTurn,
    isOn: switchedOn,
    log,
  });
  const others = (agentId: AgentId): AgentId[] =>
    beatingAgents(config(), usesSubscription).flatMap((one) => (one.agentId === agentId ? [] : [one.agentId]));

  return {
    wake,
    start(announced) {
      announce = announced;
      timer = startHeartbeatTimer({
        plan: () => beatingAgents(config(), usesSubscription),
        beat: (agentId, dueAt) => beatOf(agentId as AgentId, `heartbeat-${agentId}-${dueAt}`),
        begin: wake.resume,
        kv: store.kv,
        clock: systemClock,
        log,
      });
    },
    changed: () => timer?.look(),
    last: async () => ((await store.kv.get(SPACE, "last")) as HeartbeatEvent | undefined) ?? null,
    isOn: () => isOn ?? true,
    async setOn(on) {
      await store.kv.set(SPACE, "enabled", on);
      isOn = on;
      if (on) await wake.resume();
    },
    settingsOf: (agentId) => {
      const own = heartbeatSettings(config(), agentId, usesSubscription);
      return { ...own, enabled: mayBeat(config(), agentId) && isBeating(own) };
    },
    /** The line goes to the default agent; the others that beat look around at once. */
    async wakeMain(text: string, mode: WakeMode) {
      const agentId = defaultAgentId(config());
      await wake.tell(heartbeatSettings(config(), agentId, usesSubscription).session, text, mode);
      if (mode === "next-heartbeat" || !(await switchedOn())) return;
      for (const other of others(agentId))
        void beatOf(other, newId()).catch((error: unknown) =>
          log.warn("a heartbeat failed", { agentId: other, error }),
        );
    },
    close() {
      timer?.close();
      closing.abort();
      wake.close();
    },
  };
}

const isForOneTask = (session: SessionKey): boolean =>
  session !== "global" && session !== "unknown" && (isSubagentKey(session) || sessionKindOf(session) === "cron");
