// Heartbeats and wake-ups of all agents: the timer, the switch, and the report of each beat.
import type { RunOutcome } from "../../core/event.ts";
import { isSubagentKey, sessionKindOf, type AgentId, type SessionKey } from "../../core/names.ts";
import { newId } from "../../base/ids.ts";
import { agentOfSession, defaultAgentId } from "../../config/agents.ts";
import type { Wake, WakeMode } from "../../session/wake.ts";
import type { SystemEvents } from "../../session/system-events.ts";
import type { Agents } from "../agent.ts";
import { createWake, WAKE_PROMPT } from "../wake.ts";
import type { BeatDeps } from "./beat.ts";
import {
  beatingAgents,
  heartbeatSettings,
  isBeating,
  mayBeat,
  type HeartbeatSettings,
  type UsesSubscription,
} from "./settings.ts";
import { startHeartbeatTimer, type HeartbeatTimer } from "./timer.ts";
import type { Report } from "./turn.ts";
import type { HeartbeatEvent } from "../../protocol/methods/heartbeat.ts";

/** What the methods of the gateway use. */
export interface Heartbeats {
  /** Posts a note to the main session of the default agent; `now` also starts a beat of every agent that has them. */
  wakeMain(text: string, mode: WakeMode): Promise<void>;
  last(): Promise<HeartbeatEvent | null>;
  setOn(on: boolean): Promise<void>;
  isOn(): boolean;
  settingsOf(agentId: AgentId): HeartbeatSettings & { readonly enabled: boolean };
  /** Applies a changed config. */
  changed(): void;
}

export interface HeartbeatsDeps extends Omit<BeatDeps, "agents" | "events" | "isOn" | "closing"> {
  readonly agents: Agents;
  readonly events: SystemEvents;
  readonly usesSubscription: UsesSubscription;
}

const SPACE = "heartbeat";

/** Only the timer is loaded at the start; the rest loads with the first beat. */
export class HeartbeatService implements Heartbeats {
  readonly wake: Wake;
  readonly #deps: HeartbeatsDeps;
  readonly #closing = new AbortController();
  /** By agent: the beat that was already reported as busy. */
  readonly #reportedBusy = new Map<AgentId, string>();
  #announce: (event: HeartbeatEvent) => void = () => {};
  #timer: HeartbeatTimer | undefined;
  #isOn: boolean | undefined;
  #hasReportedNoModel = false;

  constructor(deps: HeartbeatsDeps) {
    this.#deps = deps;
    const { agents, models, events, config, log } = deps;
    this.wake = createWake({
      turns: () => agents,
      models,
      events,
      agentOf: (session) => agentOfSession(session, config()),
      turn: (session) => this.#wakeTurn(session),
      isOn: () => this.#readSwitch(),
      log,
    });
  }

  /** Begins the regular beats and announces each of them. */
  start(announce: (event: HeartbeatEvent) => void): void {
    const { store, clock, log } = this.#deps;
    this.#announce = announce;
    this.#timer = startHeartbeatTimer({
      plan: () => this.#beating(),
      beat: (agentId, dueAt) => this.#beat(agentId as AgentId, `heartbeat-${agentId}-${dueAt}`),
      begin: this.wake.resume,
      kv: store.kv,
      clock,
      log,
    });
  }

  changed(): void {
    this.#timer?.check();
  }

  async last(): Promise<HeartbeatEvent | null> {
    return ((await this.#deps.store.kv.get(SPACE, "last")) as HeartbeatEvent | undefined) ?? null;
  }

  isOn(): boolean {
    return this.#isOn ?? true;
  }

  async setOn(on: boolean): Promise<void> {
    await this.#deps.store.kv.set(SPACE, "enabled", on);
    this.#isOn = on;
    if (on) await this.wake.resume();
  }

  settingsOf(agentId: AgentId): HeartbeatSettings & { readonly enabled: boolean } {
    const settings = this.#settings(agentId);
    return { ...settings, enabled: mayBeat(this.#deps.config(), agentId) && isBeating(settings) };
  }

  async wakeMain(text: string, mode: WakeMode): Promise<void> {
    const main = defaultAgentId(this.#deps.config());
    await this.wake.notify(this.#settings(main).session, text, mode);
    if (mode === "next-heartbeat" || !(await this.#readSwitch())) return;
    for (const { agentId } of this.#beating()) {
      if (agentId === main) continue;
      void this.#beat(agentId, newId()).catch((error: unknown) =>
        this.#deps.log.warn("heartbeat failed", { agentId, error }),
      );
    }
  }

  close(): void {
    this.#timer?.close();
    this.#closing.abort();
    this.wake.close();
  }

  async #beat(agentId: AgentId, runId: string): Promise<"over" | "busy"> {
    const { beat } = await import("./beat.ts");
    const startedAt = this.#deps.clock.now();
    const report = await beat(this.#beatDeps(), this.#settings(agentId), runId);
    const isBusy = report.reason === "requests-in-flight";
    if (!isBusy || this.#reportedBusy.get(agentId) !== runId) await this.#report(agentId, startedAt, report);
    if (isBusy) this.#reportedBusy.set(agentId, runId);
    return isBusy ? "busy" : "over";
  }

  async #wakeTurn(session: SessionKey): Promise<RunOutcome | undefined> {
    const { store, clock, config } = this.#deps;
    // A session of one task has the limits of that task; a new session under its key would have none.
    if (isForOneTask(session) && (await store.sessions.get(session)) === undefined) return undefined;
    const { runSystemTurn } = await import("./turn.ts");
    const agentId = agentOfSession(session, config());
    const startedAt = clock.now();
    const { outcome, report } = await runSystemTurn(this.#beatDeps(), {
      runId: newId(),
      session,
      text: WAKE_PROMPT,
      settings: this.#settings(agentId),
      regular: false,
    });
    await this.#report(agentId, startedAt, report);
    return outcome;
  }

  async #report(agentId: AgentId, startedAt: number, report: Report): Promise<void> {
    const { store, clock, config, log } = this.#deps;
    if (this.#closing.signal.aborted) return;
    const ts = clock.now();
    const event: HeartbeatEvent = { ts, ...report, durationMs: ts - startedAt, agentId };
    if (report.reason === "no-model") {
      if (!this.#hasReportedNoModel) log.debug("no model configured: heartbeats are skipped", { agentId });
      this.#hasReportedNoModel = true;
    } else log.debug("heartbeat", { ...event });
    await store.kv.set(SPACE, "last", event);
    const { visibilityOf } = await import("./target.ts");
    const route = report.channel === undefined ? undefined : { channel: report.channel };
    if (visibilityOf(config(), route).useIndicator) this.#announce(event);
  }

  async #readSwitch(): Promise<boolean> {
    return (this.#isOn ??= (await this.#deps.store.kv.get(SPACE, "enabled")) !== false);
  }

  #beatDeps(): BeatDeps {
    return { ...this.#deps, isOn: () => this.#readSwitch(), closing: this.#closing.signal };
  }

  #settings(agentId: AgentId): HeartbeatSettings {
    return heartbeatSettings(this.#deps.config(), agentId, this.#deps.usesSubscription);
  }

  #beating(): HeartbeatSettings[] {
    return beatingAgents(this.#deps.config(), this.#deps.usesSubscription);
  }
}

const isForOneTask = (session: SessionKey): boolean =>
  session !== "global" && session !== "unknown" && (isSubagentKey(session) || sessionKindOf(session) === "cron");
