// The agents: every turn is stored before it runs and has one outcome after; each session runs its turns in order.
import { setMaxListeners } from "node:events";

import { descriptorLimit } from "../base/descriptors.ts";
import { errnoOf, OpenClawError } from "../core/error.ts";
import type { RunEvent, RunFailure, RunOutcome } from "../core/event.ts";
import { isSubagentKey, sessionKindOf, type SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import { agentOfSession } from "../config/agents.ts";
import { createStreamModel } from "../model/retry.ts";
import { queueSettings } from "../session/queue.ts";
import { entryOf } from "../session/session.ts";
import { postEntry, turnOf } from "../session/inbox.ts";
import type { Agents } from "./agent.ts";
import type { Receipt, TurnRequest } from "../session/turns.ts";
import { createBudgets } from "./budget.ts";
import { createHistories } from "./context.ts";
import type { AgentsDeps } from "./deps.ts";
import { createPendingTurn, Leave, Stop, type PendingTurn } from "./pending-turn.ts";
import { createLane, type Lane } from "./lane.ts";
import { createLedger } from "./ledger.ts";
import { createBootstrapReader } from "./prompt/files.ts";
import { INTERRUPTED, recover } from "./recover.ts";
import { dismiss, SAY } from "./reply-without-model.ts";
import type { RunContext } from "./outcome.ts";
import type * as RunModule from "./run.ts";
import type { RunPlan } from "./run.ts";
import { createSlots, type Slots } from "./slots.ts";

const MAX_WAITING = 5000;
const KEEP_ENDED_MS = 14 * 24 * 3_600_000;

/** The model loop loads with the first turn, because it is most of the code and clients need not wait for it. */
const loadRun = (): Promise<typeof RunModule> => import("./run.ts");

/** Resolves when runs of a dead process are closed; its waiting turns start right after. */
export async function createAgents(deps: AgentsDeps): Promise<Agents> {
  const { store, clock, log } = deps;
  const ledger = deps.ledger ?? createLedger(store, clock);
  const runContext: RunContext = {
    deps,
    streamModel: deps.streamModel ?? createStreamModel(deps.models),
    histories: createHistories(store.transcript),
    ledger,
    budgets: createBudgets(ledger, () => clock.now()),
    readBootstrap: createBootstrapReader(),
  };
  const slotsFor = createSlotTable(deps);
  const lanes = new Map<SessionKey, Lane>();
  const jobs = new Map<string, PendingTurn>();
  const listeners = new Set<(event: RunEvent) => void>();
  let isClosed = false;
  /** Resolves pending waits when nothing runs any more. */
  const gone = new AbortController();
  setMaxListeners(0, gone.signal);

  const publish = (event: RunEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        log.error("a listener of run events failed", { error, stream: event.body.stream });
      }
    }
  };
  const settingsOf = async (key: SessionKey) => {
    const record = await store.sessions.get(key);
    const entry = record === undefined ? {} : entryOf(record);
    return queueSettings(deps.config(), entry, entry.channel);
  };
  const laneOf = (key: SessionKey): Lane => {
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const lane = createLane({
      settings: () => settingsOf(key),
      run: (pending, summarised, steer) =>
        runContained(runContext, pending, { summarised, steer, slots: slotsFor(key) }),
      dismiss: (pending, why) => dismissFor(runContext, pending, why),
      now: () => clock.now(),
      idle: () => lanes.delete(key),
    });
    lanes.set(key, lane);
    return lane;
  };
  const track = (turn: TurnRequest, acceptedAt: number): PendingTurn => {
    const pending = createPendingTurn(turn, acceptedAt, clock, publish);
    jobs.set(turn.runId, pending);
    // An outcome that is not on disk yet is answered from memory.
    void pending.ended.then(() => pending.written).then(() => jobs.delete(turn.runId));
    return pending;
  };
  const admit = async (pending: PendingTurn): Promise<void> => {
    const { sessionKey, text } = pending.turn;
    const isBusy = (): boolean => lanes.get(sessionKey)?.isBusy() === true;
    // Matters only beside a running turn.
    const urgent = isBusy() && ((await deps.isUrgent?.(text, pending.turn)) ?? isUrgent(pending.turn));
    if (urgent && isBusy() && (await answerWithoutLane(runContext, pending))) return;
    const settings = await settingsOf(sessionKey);
    if (!isClosed) laneOf(sessionKey).add(pending, settings);
  };
  /** The turn is stored, so its poster need not wait for the queue. */
  const begin = (pending: PendingTurn): void => {
    // The stored turn runs at the next start.
    if (isClosed) return;
    admit(pending).catch((error: unknown) => {
      log.error("a turn could not start", { error, runId: pending.turn.runId });
      return dismissFor(runContext, pending, { error });
    });
  };
  const posting = new Map<string, Promise<Receipt>>();
  const postAnew = async (turn: TurnRequest): Promise<Receipt> => {
    const { runId } = turn;
    const pending = track(turn, clock.now());
    try {
      const { fresh, acceptedAt, outcome } = await postEntry(store.inbox, turn, pending.acceptedAt);
      if (fresh) begin(pending);
      else jobs.delete(runId);
      return { runId, acceptedAt, fresh, ...(outcome === undefined ? {} : { outcome }) };
    } catch (error) {
      jobs.delete(runId);
      throw error;
    }
  };

  const entries = await recover(store, clock, log);
  await Promise.all([store.inbox.prune(clock.now() - KEEP_ENDED_MS), store.runs.prune(clock.now() - KEEP_ENDED_MS)]);
  const left = entries.flatMap((entry) => {
    const turn = turnOf<TurnRequest>(entry);
    if (turn === undefined) log.error("a stored turn cannot be read and is skipped", { id: entry.id });
    return turn === undefined ? [] : [track(turn, entry.at)];
  });
  // After the caller has its agents, because a stored command may need them.
  setImmediate(() => {
    for (const pending of left) begin(pending);
  });

  const agents: Agents = {
    async post(turn): Promise<Receipt> {
      if (isClosed)
        throw new OpenClawError("gateway.stopping", "the gateway is stopping", { hint: "send it again in a moment" });
      if ((lanes.get(turn.sessionKey)?.jobs().length ?? 0) >= MAX_WAITING)
        throw new OpenClawError("session.busy", `${MAX_WAITING} turns already wait for session ${turn.sessionKey}`, {
          hint: "wait, or stop them: /stop",
        });
      // A second post of the same turn waits for the first one.
      const underWay = posting.get(turn.runId);
      if (underWay !== undefined) return { ...(await underWay), fresh: false };
      const known = jobs.get(turn.runId);
      if (known !== undefined) return { runId: turn.runId, acceptedAt: known.acceptedAt, fresh: false };
      const posted = postAnew(turn).finally(() => posting.delete(turn.runId));
      posting.set(turn.runId, posted);
      return posted;
    },
    async say(sessionKey, text, id = newId()) {
      await agents.post({ runId: id, sessionKey, text, source: SAY, authorised: false });
    },
    async wait(runId, timeoutMs, signal) {
      const pending = jobs.get(runId);
      if (pending !== undefined)
        return within(pending.ended, timeoutMs, [gone.signal, ...(signal === undefined ? [] : [signal])]);
      const entry = await store.inbox.get(runId);
      return entry?.state === "done" || entry?.state === "failed" ? (entry.result as RunOutcome) : undefined;
    },
    async abort({ sessionKey, runId }, reason) {
      const ended = (await lanes.get(sessionKey)?.abort(runId, reason)) ?? [];
      return ended.map(({ turn }) => turn.runId);
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    active: (sessionKey) => (lanes.get(sessionKey)?.jobs() ?? []).map(({ turn }) => turn.runId),
    compact: async (sessionKey, instructions) =>
      (await import("./compact-now.ts")).compactNow(runContext, sessionKey, instructions, publish),
    async close() {
      isClosed = true;
      const failure = { code: "run.interrupted", message: INTERRUPTED, hint: "send the message again" };
      const stop = ({ stage, control, turn }: PendingTurn): void => {
        // An HTTP caller does not come back for its answer.
        const isLeft = (stage === "waiting" || stage === "placing") && turn.source !== "http";
        control.abort(isLeft ? new Leave() : new Stop("error", failure));
      };
      await Promise.all([
        ...[...lanes.values()].map((lane) => lane.close(stop)),
        ...[...posting.values()].map((posted) => posted.catch(() => undefined)), // its poster gets the error
      ]);
      gone.abort();
    },
  };
  return agents;
}

/** Slots by kind of session: chats, subagents and jobs do not block each other. */
function createSlotTable({ config }: AgentsDeps): (key: SessionKey) => Slots {
  const chats = createSlots(() => config().agents?.defaults?.maxConcurrent ?? 4);
  const subagents = createSlots(() => config().agents?.defaults?.subagents?.maxConcurrent ?? 8);
  const crons = createSlots(() => config().cron?.maxConcurrentRuns ?? 1);
  // Webhooks have as many slots as chats, but their own, so that they cannot keep the person waiting.
  const hooks = createSlots(() => config().agents?.defaults?.maxConcurrent ?? 4);
  return (key) => {
    if (isSubagentKey(key)) return subagents;
    const kind = sessionKindOf(key);
    if (kind === "hook") return hooks;
    return kind === "cron" ? crons : chats;
  };
}

/** Commands about the running turn, or read-only ones: they do not wait behind it. */
function isUrgent({ authorised, text }: TurnRequest): boolean {
  return (
    authorised &&
    /^\s*(?:\/(?:stop|abort|status|help|commands|queue|usage|whoami|context|tools?)\b|(?:stop|abort)\s*$)/i.test(text)
  );
}

/** True when a command answered; else the message is queued with the result of its directives. */
async function answerWithoutLane(runContext: RunContext, pending: PendingTurn): Promise<boolean> {
  const { turn, control } = pending;
  const agentId = agentOfSession(turn.sessionKey, runContext.deps.config());
  const { sessionKey, runId, source, authorised, approver, admin } = turn;
  const directed = await runContext.deps.direct(turn.text, {
    sessionKey,
    agentId,
    runId,
    source,
    authorised,
    approver,
    admin,
    signal: control.signal,
  });
  pending.directed = directed;
  if (directed.kind === "turn") return false;
  const slots: Slots = { take: async () => () => {} };
  await runContained(runContext, pending, { summarised: [], steer: () => [], slots });
  return true;
}

/** Never throws. Whatever fails, including loading the code of a run, the turn ends and frees its lane. */
async function runContained(runContext: RunContext, pending: PendingTurn, plan: RunPlan): Promise<void> {
  try {
    const { runPendingTurn } = await loadRun();
    await runPendingTurn(runContext, pending, plan);
    const isLeft = pending.control.signal.reason instanceof Leave;
    if (pending.stage === "ended" || isLeft) return;
    throw new TypeError("the run returned without an end");
  } catch (error) {
    runContext.deps.log.error("a run failed outside its own handling", { error, runId: pending.turn.runId });
    for (const other of plan.summarised) if (!pending.merged.includes(other)) pending.merged.push(other);
    await dismissFor(runContext, pending, { error });
  }
}

type Dismissal = "dropped" | "interrupted" | { readonly error: unknown } | { readonly reason: string };

/** Never throws. */
async function dismissFor(runContext: RunContext, pending: PendingTurn, why: Dismissal): Promise<void> {
  const { status, ...failure } = wordsFor(why);
  await dismiss(runContext, pending, status, failure).catch((error: unknown) =>
    runContext.deps.log.error("a turn could not be closed", { error, runId: pending.turn.runId }),
  );
}

function wordsFor(why: Dismissal): RunFailure & { readonly status: "error" | "aborted" } {
  if (why === "interrupted")
    return { status: "aborted", code: "run.aborted", message: "a newer message took its place" };
  if (typeof why === "object" && "error" in why) return { status: "error", ...notBegun(why.error) };
  if (why !== "dropped") return { status: "aborted", code: "run.aborted", message: `stopped (${why.reason})` };
  const message = "too many messages were waiting; this one was left out";
  return { status: "error", code: "queue.dropped", message, hint: "messages.queue.cap and messages.queue.drop" };
}

function notBegun(error: unknown): RunFailure {
  const limit = descriptorLimit(error);
  if (limit !== undefined)
    return { code: "run.no-descriptors", message: `the turn could not begin: ${limit.message}`, hint: limit.hint };
  if (error instanceof OpenClawError)
    return { code: error.code, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  if (errnoOf(error) === "ERR_MODULE_NOT_FOUND" || errnoOf(error) === "ENOENT")
    return {
      code: "run.not-loaded",
      message: "the turn could not begin: a file of the installed gateway is missing",
      hint: "wait for a running update to end, or restart the gateway (openclaw gateway restart); then send the message again",
    };
  return {
    code: "run.bug",
    message: "the turn could not begin",
    hint: "openclaw logs shows why; then send the message again",
  };
}

async function within(
  ended: Promise<RunOutcome>,
  timeoutMs: number,
  signals: readonly AbortSignal[],
): Promise<RunOutcome | undefined> {
  const { promise: over, resolve: giveUp } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => giveUp(undefined), Math.min(timeoutMs, 2 ** 31 - 1));
  const onAbort = (): void => giveUp(undefined);
  for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
  if (signals.some(({ aborted }) => aborted)) giveUp(undefined);
  try {
    return await Promise.race([ended, over]);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
  }
}
