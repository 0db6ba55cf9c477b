// One turn that the gateway starts: posts it, waits for it, and delivers its report.
import type { RunOutcome } from "../../core/event.ts";
import type { SessionKey } from "../../core/names.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound, Route } from "../../channel/outbound.ts";
import type { Config } from "../../config/schema/index.ts";
import { parseModelRef } from "../../model/catalog.ts";
import type { Store } from "../../store/store.ts";
import { ACK } from "./ack.ts";
import type { Agents } from "../agent.ts";
import type { HeartbeatSettings } from "./settings.ts";
import { targetOf, visibilityOf } from "./target.ts";

export interface SystemTurnDeps {
  readonly agents: Pick<Agents, "post" | "wait" | "watch">;
  readonly store: Pick<Store, "kv" | "sessions">;
  readonly outbound: Outbound;
  readonly config: () => Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the wait, not the turn. */
  readonly closing: AbortSignal;
}

export interface SystemTurn {
  readonly runId: string;
  readonly session: SessionKey;
  readonly text: string;
  readonly settings: HeartbeatSettings;
  /** A regular beat: the same alert within a day is shown once. */
  readonly regular: boolean;
}

/** The result in the fields of the `heartbeat` event. */
export interface Report {
  readonly status: "ok" | "sent" | "skipped" | "failed";
  readonly reason?: string;
  readonly preview?: string;
  readonly hasMedia?: boolean;
  readonly channel?: string;
  readonly to?: string;
}

export interface SystemTurnEnd {
  /** Undefined when the gateway closed first, or the end is unknown. */
  readonly outcome: RunOutcome | undefined;
  readonly report: Report;
}

const ALERTS = "heartbeat-alerts";
const SAME_ALERT_MS = 24 * 3_600_000;
const PREVIEW_CHARS = 200;
const WAIT_MS = 600_000;

export async function runSystemTurn(deps: SystemTurnDeps, turn: SystemTurn): Promise<SystemTurnEnd> {
  const { agents, store, config } = deps;
  const { runId, session, settings } = turn;
  const lastShown = turn.regular ? await lastAlert(deps, session) : undefined;
  const thinking = followThinking(agents, runId);
  try {
    const model = settings.model === undefined ? undefined : parseModelRef(settings.model, config());
    await agents.post({
      runId,
      sessionKey: session,
      text: turn.text,
      source: "heartbeat",
      authorised: false,
      ...(model === undefined ? {} : { model }),
      heartbeat: { ackMaxChars: settings.ackMaxChars, ...(lastShown === undefined ? {} : { told: lastShown }) },
    });
    const outcome = await waitForEnd(deps, runId);
    if (outcome === undefined) {
      const reason = deps.closing.aborted ? "stopping" : "its end could not be stored";
      return { outcome, report: { status: "failed", reason } };
    }
    if (turn.regular && outcome.status === "ok" && !outcome.silent)
      await store.kv.set(ALERTS, session, { text: outcome.text, at: deps.clock.now() });
    return { outcome, report: await report(deps, turn, outcome, thinking.text()) };
  } finally {
    thinking.stop();
  }
}

async function report(
  deps: SystemTurnDeps,
  { settings, session }: SystemTurn,
  outcome: RunOutcome,
  thought: string,
): Promise<Report> {
  if (outcome.status !== "ok") return { status: "failed", reason: outcome.failure?.message ?? outcome.status };
  const config = deps.config();
  // A report of another session stays in that session.
  const request = session === settings.session ? settings : { target: "last", to: undefined, accountId: undefined };
  const record = await deps.store.sessions.get(session);
  const target = targetOf(request, record, deps.outbound.channels(), config);
  const { showOk, showAlerts } = visibilityOf(config, target.route);
  const news = outcome.silent ? (showOk ? ACK : "") : showAlerts ? outcome.text : "";
  const reasoning = settings.includeReasoning && thought !== "" ? `Reasoning:\n${thought}` : "";
  const preview = outcome.silent ? {} : { preview: previewOf(outcome.text), hasMedia: false };
  if (target.route === undefined) {
    if (outcome.silent) return { status: "ok" };
    return { status: "skipped", reason: showAlerts ? target.reason : "alerts-disabled", ...preview };
  }
  if (!outcome.silent && !showAlerts) return { status: "skipped", reason: "alerts-disabled", ...preview };
  if (news === "" && reasoning === "") return { status: "ok" };
  const sent = await sendAll(deps, outcome.runId, target.route, reasoning, news);
  return {
    ...sent,
    ...preview,
    channel: target.route.channel,
    ...(target.route.to === undefined ? {} : { to: target.route.to }),
  };
}

/** The same turn has the same ids, so that nothing is sent twice. */
async function sendAll(
  { outbound, log }: SystemTurnDeps,
  runId: string,
  route: Route,
  reasoning: string,
  news: string,
): Promise<Pick<Report, "status" | "reason">> {
  const parts = [
    ["reasoning", reasoning],
    ["news", news],
  ] as const;
  try {
    for (const [name, text] of parts) {
      if (text === "") continue;
      const { state, reason } = await outbound.send({ intentId: `${runId}:${name}`, route, text });
      if (state === "failed") return { status: "failed", reason: reason ?? "the platform refused it" };
    }
    return { status: "sent" };
  } catch (error) {
    log.warn("the report of a heartbeat could not be sent", { error, channel: route.channel });
    return { status: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}

async function waitForEnd({ agents, closing }: SystemTurnDeps, runId: string): Promise<RunOutcome | undefined> {
  for (;;) {
    const began = performance.now();
    const outcome = await agents.wait(runId, WAIT_MS, closing);
    // An immediate undefined means that the turn is not running and its end was not stored (a full disk).
    const isLost = outcome === undefined && performance.now() - began < WAIT_MS / 2;
    if (outcome !== undefined || isLost || closing.aborted) return outcome;
  }
}

async function lastAlert({ store, clock }: SystemTurnDeps, session: SessionKey): Promise<string | undefined> {
  const last = (await store.kv.get(ALERTS, session)) as { readonly text?: unknown; readonly at?: unknown } | undefined;
  const isFresh = typeof last?.at === "number" && Math.abs(clock.now() - last.at) < SAME_ALERT_MS;
  return isFresh && typeof last.text === "string" ? last.text : undefined;
}

function followThinking(agents: Pick<Agents, "watch">, runId: string): { text(): string; stop(): void } {
  let thought = "";
  const stop = agents.watch(({ runId: of, body }) => {
    if (of === runId && body.stream === "thinking") thought = body.text;
  });
  return { text: () => thought.trim(), stop };
}

function previewOf(text: string): string {
  return text.length <= PREVIEW_CHARS ? text : `${text.slice(0, PREVIEW_CHARS).toWellFormed()}…`;
}
