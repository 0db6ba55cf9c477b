// Runs the turns of all sessions: each turn is stored before it runs and has one outcome; each session runs them in order.
import { setMaxListeners } from "node:events";

import { OpenClawError } from "../core/error.ts";
import type { RunEvent, RunOutcome } from "../core/event.ts";
import { isSubagentKey, sessionKindOf, type SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import { agentOfSession } from "../config/agents.ts";
import { createStreamModel } from "../model/retry.ts";
import { queueSettings, type QueueSettings } from "../session/queue.ts";
import { entryOf } from "../session/session.ts";
import { postEntry, turnOf } from "../session/inbox.ts";
import type { Agents } from "./agent.ts";
import type { Receipt, TurnRequest } from "../session/turns.ts";
import { createBudgets } from "./budget.ts";
import { createHistories } from "./context.ts";
import type { AgentsDeps } from "./deps.ts";
import { dismissTurn } from "./dismiss.ts";
import { createPendingTurn, LeftForNextStart, Stop, type PendingTurn } from "./pending-turn.ts";
import { createSessionQueue, type SessionQueue } from "./session-queue.ts";
import { createLedger } from "./ledger.ts";
import { createBootstrapReader } from "./prompt/files.ts";
import { INTERRUPTED, recover } from "./recover.ts";
import { SAY } from "./reply-without-model.ts";
import type { RunContext } from "./outcome.ts";
import type * as RunModule from "./run.ts";
import type { RunPlan } from "./run.ts";
import { createRunLimit, type RunLimit } from "./run-limit.ts";

const MAX_WAITING = 5000;
const KEEP_ENDED_MS = 14 * 24 * 3_600_000;

/** Resolves when runs of a dead process are closed; its waiting turns start right after. */
export async function createAgents(deps: AgentsDeps): Promise<Agents> {
  const runner = new AgentRunner(deps);
  await runner.recover();
  return runner;
}

class AgentRunner implements Agents {
  readonly #deps: AgentsDeps;
  readonly #runContext: RunContext;
  readonly #limitFor: (key: SessionKey) => RunLimit;
  readonly #queues = new Map<SessionKey, SessionQueue>();
  /** Turns whose outcome is not on disk yet, by run id. */
  readonly #pending = new Map<string, PendingTurn>();
  /** Turns that are being stored, by run id. */
  readonly #posting = new Map<string, Promise<Receipt>>();
  readonly #listeners = new Set<(event: RunEvent) => void>();
  #isClosing = false;
  /** Ends waits when all queues are closed. */
  readonly #closed = new AbortController();

  constructor(deps: AgentsDeps) {
    const { store, clock } = deps;
    const ledger = deps.ledger ?? createLedger(store, clock);
    this.#deps = deps;
    this.#runContext = {
      deps,
      streamModel: deps.streamModel ?? createStreamModel(deps.models),
      histories: createHistories(store.transcript),
      ledger,
      budgets: deps.budgets ?? createBudgets(ledger, () => clock.now()),
      readBootstrap: createBootstrapReader(),
    };
    this.#limitFor = createRunLimits(deps);
    setMaxListeners(0, this.#closed.signal);
  }

  async recover(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const entries = await recover(store, clock, log);
    const before = clock.now() - KEEP_ENDED_MS;
    await Promise.all([store.inbox.prune(before), store.runs.prune(before)]);
    const waiting = entries.flatMap((entry) => {
      const turn = turnOf<TurnRequest>(entry);
      if (turn === undefined) log.error("a stored turn cannot be read and is skipped", { id: entry.id });
      return turn === undefined ? [] : [this.#track(turn, entry.at)];
    });
    // After the caller has its agents, because a stored command may need them.
    setImmediate(() => {
      for (const pending of waiting) this.#begin(pending);
    });
  }

  async post(turn: TurnRequest): Promise<Receipt> {
    if (this.#isClosing)
      throw new OpenClawError("gateway.stopping", "the gateway is stopping", { hint: "send it again in a moment" });
    if (this.#turnsOf(turn.sessionKey).length >= MAX_WAITING)
      throw new OpenClawError("session.busy", `${MAX_WAITING} turns already wait for session ${turn.sessionKey}`, {
        hint: "wait, or stop them: /stop",
      });
    // A second post of the same turn waits for the first one.
    const posting = this.#posting.get(turn.runId);
    if (posting !== undefined) return { ...(await posting), fresh: false };
    const known = this.#pending.get(turn.runId);
    if (known !== undefined) return { runId: turn.runId, acceptedAt: known.acceptedAt, fresh: false };
    const posted = this.#store(turn).finally(() => this.#posting.delete(turn.runId));
    this.#posting.set(turn.runId, posted);
    return posted;
  }

  async say(sessionKey: SessionKey, text: string, id: string = newId()): Promise<void> {
    await this.post({ runId: id, sessionKey, text, source: SAY, authorised: false });
  }

  async wait(runId: string, timeoutMs: number, signal?: AbortSignal): Promise<RunOutcome | undefined> {
    const pending = this.#pending.get(runId);
    const signals = [this.#closed.signal, ...(signal === undefined ? [] : [signal])];
    if (pending !== undefined) return within(pending.ended, timeoutMs, signals);
    const entry = await this.#deps.store.inbox.get(runId);
    return entry?.state === "done" || entry?.state === "failed" ? (entry.result as RunOutcome) : undefined;
  }

  async abort({ sessionKey, runId }: Parameters<Agents["abort"]>[0], reason: string): Promise<string[]> {
    const ended = (await this.#queues.get(sessionKey)?.abort(runId, reason)) ?? [];
    return ended.map(({ turn }) => turn.runId);
  }

  watch(listener: (event: RunEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  active(sessionKey: SessionKey): readonly string[] {
    return this.#turnsOf(sessionKey).map(({ turn }) => turn.runId);
  }

  async compact(sessionKey: SessionKey, instructions?: string): ReturnType<Agents["compact"]> {
    const { compactNow } = await import("./compact-now.ts");
    return compactNow(this.#runContext, sessionKey, instructions, (event) => this.#publish(event));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([
      ...[...this.#queues.values()].map((queue) => queue.close(stopForShutdown)),
      ...[...this.#posting.values()].map((posted) => posted.catch(() => undefined)), // its poster gets the error
    ]);
    this.#closed.abort();
  }

  /** Stores a turn in the inbox, and begins it when it is new. */
  async #store(turn: TurnRequest): Promise<Receipt> {
    const { store, clock } = this.#deps;
    const { runId } = turn;
    const pending = this.#track(turn, clock.now());
    try {
      const { fresh, acceptedAt, outcome } = await postEntry(store.inbox, turn, pending.acceptedAt);
      if (fresh) this.#begin(pending);
      else this.#pending.delete(runId);
      return { runId, acceptedAt, fresh, ...(outcome === undefined ? {} : { outcome }) };
    } catch (error) {
      this.#pending.delete(runId);
      throw error;
    }
  }

  #track(turn: TurnRequest, acceptedAt: number): PendingTurn {
    const pending = createPendingTurn(turn, acceptedAt, this.#deps.clock, (event) => this.#publish(event));
    this.#pending.set(turn.runId, pending);
    // An outcome that is not on disk yet is answered from memory.
    void pending.ended.then(() => pending.written).then(() => this.#pending.delete(turn.runId));
    return pending;
  }

  /** Does not wait for the queue, because the turn is stored. While closing, the turn is left for the next start. */
  #begin(pending: PendingTurn): void {
    if (this.#isClosing) return;
    this.#admit(pending).catch((error: unknown) => {
      this.#deps.log.error("a turn could not start", { error, runId: pending.turn.runId });
      return dismissTurn(this.#runContext, pending, { error });
    });
  }

  async #admit(pending: PendingTurn): Promise<void> {
    const { sessionKey, text } = pending.turn;
    const isBusy = (): boolean => this.#queues.get(sessionKey)?.isBusy() === true;
    // Urgency matters only during a run.
    const urgent = isBusy() && ((await this.#deps.isUrgent?.(text, pending.turn)) ?? isUrgent(pending.turn));
    if (urgent && isBusy() && (await answerWithoutQueue(this.#runContext, pending))) return;
    const settings = await this.#queueSettings(sessionKey);
    if (!this.#isClosing) this.#queueOf(sessionKey).add(pending, settings);
  }

  #queueOf(key: SessionKey): SessionQueue {
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const queue = createSessionQueue({
      settings: () => this.#queueSettings(key),
      run: (pending, summarized, steer) =>
        runContained(this.#runContext, pending, { summarized, steer, limit: this.#limitFor(key) }),
      dismiss: (pending, why) => dismissTurn(this.#runContext, pending, why),
      now: () => this.#deps.clock.now(),
      onIdle: () => this.#queues.delete(key),
    });
    this.#queues.set(key, queue);
    return queue;
  }

  async #queueSettings(key: SessionKey): Promise<QueueSettings> {
    const record = await this.#deps.store.sessions.get(key);
    const entry = record === undefined ? {} : entryOf(record);
    return queueSettings(this.#deps.config(), entry, entry.channel);
  }

  #turnsOf(key: SessionKey): readonly PendingTurn[] {
    return this.#queues.get(key)?.turns() ?? [];
  }

  #publish(event: RunEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#deps.log.error("a listener of run events failed", { error, stream: event.body.stream });
      }
    }
  }
}

/** A turn without effects is left for the next start, except for HTTP: its caller does not come back for the answer. */
function stopForShutdown({ stage, control, turn }: PendingTurn): void {
  const isLeft = (stage === "waiting" || stage === "waiting-for-slot") && turn.source !== "http";
  const failure = { code: "run.interrupted", message: INTERRUPTED, hint: "send the message again" };
  control.abort(isLeft ? new LeftForNextStart() : new Stop("error", failure));
}

/** The model loop loads with the first turn, because it is most of the code and clients need not wait for it. */
const loadRun = (): Promise<typeof RunModule> => import("./run.ts");

/** Limits by kind of session: chats, subagents and jobs do not block each other. */
function createRunLimits({ config }: AgentsDeps): (key: SessionKey) => RunLimit {
  const chats = createRunLimit(() => config().agents?.defaults?.maxConcurrent ?? 4);
  const subagents = createRunLimit(() => config().agents?.defaults?.subagents?.maxConcurrent ?? 8);
  const crons = createRunLimit(() => config().cron?.maxConcurrentRuns ?? 1);
  // Webhooks have the same limit as chats, but their own count, so that they cannot keep the person waiting.
  const hooks = createRunLimit(() => config().agents?.defaults?.maxConcurrent ?? 4);
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
async function answerWithoutQueue(runContext: RunContext, pending: PendingTurn): Promise<boolean> {
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
  const noLimit: RunLimit = { take: async () => () => {} };
  await runContained(runContext, pending, { summarized: [], steer: () => [], limit: noLimit });
  return true;
}

/** Never throws. Whatever fails, including loading the code of a run, the turn ends and frees its queue. */
async function runContained(runContext: RunContext, pending: PendingTurn, plan: RunPlan): Promise<void> {
  try {
    const { runPendingTurn } = await loadRun();
    await runPendingTurn(runContext, pending, plan);
    const isLeft = pending.control.signal.reason instanceof LeftForNextStart;
    if (pending.stage === "ended" || isLeft) return;
    throw new TypeError("the run returned without an end");
  } catch (error) {
    runContext.deps.log.error("a run failed outside its own handling", { error, runId: pending.turn.runId });
    for (const other of plan.summarized) if (!pending.merged.includes(other)) pending.merged.push(other);
    await dismissTurn(runContext, pending, { error });
  }
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
