// The conversations of the page: reads transcripts, applies run events, sends messages and stops runs.
import { OpenClawError } from "../../../src/core/error.ts";
import type { App } from "../app.ts";
import * as transitions from "./conversation.ts";
import type { Conversation } from "./conversation.ts";
import { isOver, type Run } from "./run.ts";
import { readAgentEvent, readChatEvent, toMessage, type RunEvent } from "./parse-events.ts";

export interface Reading {
  readonly isLoading: boolean;
  readonly isRead: boolean;
  readonly error: unknown;
  /** How many messages were requested. */
  readonly limit: number;
  /** The transcript is longer than the part that was read. */
  readonly hasEarlier: boolean;
  readonly thinkingLevel: string;
}

export const pageOfMessages = 200;
/** The limit of `chat.history`. */
export const mostMessages = 1000;

const stores = new WeakMap<App, ConversationStore>();

/** One store per page, so that leaving the view loses nothing. */
export function conversationsOf(app: App): ConversationStore {
  const known = stores.get(app);
  if (known !== undefined) return known;
  const conversations = new ConversationStore(app, (step) => requestAnimationFrame(step));
  stores.set(app, conversations);
  return conversations;
}

interface SessionState {
  conversation: Conversation;
  reading: Reading;
  /** The connection over which the transcript was last requested. */
  epoch: number;
  requestCount: number;
}

export class ConversationStore {
  readonly #app: App;
  readonly #schedule: (step: () => void) => void;
  readonly #sessions = new Map<string, SessionState>();
  readonly #listeners = new Set<() => void>();
  #isNotifying = false;
  #settledCount = 0;

  constructor(app: App, schedule: (step: () => void) => void) {
    this.#app = app;
    this.#schedule = schedule;
    app.client.on("chat", (payload) => this.#onEvent(readChatEvent(payload)));
    app.client.on("agent", (payload) => this.#onEvent(readAgentEvent(payload)));
    app.client.on("page.gap", () => {
      for (const session of this.#sessions.values()) session.epoch = 0;
      this.#notify();
    });
  }

  conversation(key: string): Conversation {
    return this.#stateOf(key).conversation;
  }

  reading(key: string): Reading {
    return this.#stateOf(key).reading;
  }

  /** Reads the transcript unless it was read over this connection; call it before each render. */
  open(key: string): void {
    const session = this.#stateOf(key);
    const { epoch, connection } = this.#app.store.value;
    if (connection.phase !== "connected" || session.epoch === epoch) return;
    session.epoch = epoch;
    if (session.reading.isRead) this.#resume(key);
    else void this.#read(key);
  }

  reread(key: string): void {
    void this.#read(key);
  }

  earlier(key: string): void {
    void this.#read(key, Math.min(mostMessages, this.reading(key).limit + pageOfMessages));
  }

  send(key: string, text: string): void {
    const runId = crypto.randomUUID();
    this.#change(key, (now) => transitions.withSent(now, runId, text));
    this.retry(key, runId);
  }

  retry(key: string, runId: string): void {
    const run = this.#runOf(key, runId);
    if (run !== undefined) void this.#post(key, run);
  }

  discard(key: string, runId: string): void {
    this.#change(key, (now) => transitions.withoutRun(now, runId));
  }

  async stop(key: string): Promise<void> {
    const running = this.conversation(key).runs.find(transitions.isRunning);
    const runId = running === undefined ? {} : { runId: running.runId };
    await this.#app.client.request("chat.abort", { sessionKey: key, ...runId });
  }

  isBusy(key: string): boolean {
    return this.#sessions.get(key)?.conversation.runs.some((run) => !isOver(run)) ?? false;
  }

  /** Counts ended runs and other changes that a list of sessions should show. */
  get settledCount(): number {
    return this.#settledCount;
  }

  /** Calls the listener at most once per frame. Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #stateOf(key: string): SessionState {
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    const session: SessionState = {
      conversation: transitions.emptyConversation,
      reading: firstReading,
      epoch: 0,
      requestCount: 0,
    };
    this.#sessions.set(key, session);
    return session;
  }

  #runOf(key: string, runId: string): Run | undefined {
    return this.conversation(key).runs.find((run) => run.runId === runId);
  }

  #change(key: string, step: (conversation: Conversation) => Conversation): void {
    const session = this.#stateOf(key);
    session.conversation = step(session.conversation);
    this.#notify();
  }

  #notify(): void {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    this.#schedule(() => {
      this.#isNotifying = false;
      for (const listener of this.#listeners) listener();
    });
  }

  async #read(key: string, limit = this.reading(key).limit): Promise<void> {
    const session = this.#stateOf(key);
    session.requestCount += 1;
    const requestNumber = session.requestCount;
    const covered = session.conversation.runs.filter(isOver).map(({ runId }) => runId);
    session.reading = { ...session.reading, isLoading: true, limit };
    this.#notify();
    try {
      const { messages: raw, thinkingLevel } = await this.#app.client.request("chat.history", {
        sessionKey: key,
        limit,
      });
      if (requestNumber !== session.requestCount) return;
      const messages = raw.flatMap((entry) => toMessage(entry) ?? []);
      session.conversation = transitions.withHistory(session.conversation, messages, covered);
      const hasEarlier = raw.length >= limit;
      session.reading = { isLoading: false, isRead: true, error: undefined, limit, hasEarlier, thinkingLevel };
    } catch (error) {
      if (requestNumber !== session.requestCount) return;
      session.reading = { ...session.reading, isLoading: false, error };
    }
    this.#notify();
  }

  /** The run id is the idempotency key: sending again starts no second run and returns its status. */
  async #post(key: string, { runId, sent = "" }: Run): Promise<void> {
    try {
      const params = { sessionKey: key, message: sent, idempotencyKey: runId };
      const { status } = await this.#app.client.request("chat.send", params);
      if (status === "error") return this.#onEvent({ runId, sessionKey: key, seq: 0, change: missedFailure });
      const isEnded = status === "ok" || status === "aborted";
      this.#change(key, (now) => (isEnded ? transitions.withEnded(now, runId) : transitions.withAccepted(now, runId)));
      if (isEnded) void this.#read(key);
    } catch (error) {
      if (isLost(error)) return; // it is sent again over the next connection
      const message = error instanceof Error ? error.message : String(error);
      const hint = error instanceof OpenClawError ? error.hint : undefined;
      this.#change(key, (now) => transitions.withUnsent(now, runId, message, hint));
    }
  }

  #onEvent(event: RunEvent | undefined): void {
    if (event === undefined) return;
    const { sessionKey, runId } = event;
    const hasEnded = (): boolean => {
      const run = this.#runOf(sessionKey, runId);
      return run !== undefined && isOver(run);
    };
    const hadEnded = hasEnded();
    this.#change(sessionKey, (now) => transitions.withEvent(now, event));
    if (hadEnded || !hasEnded()) return;
    this.#settledCount += 1;
    if (this.reading(sessionKey).isRead) void this.#read(sessionKey);
  }

  /** Missed events are not repeated: reads the transcript again and asks for the status of unanswered messages. */
  #resume(key: string): void {
    this.#change(key, transitions.withoutOtherClients);
    for (const run of this.conversation(key).runs)
      if (!isOver(run) && run.sent !== undefined) void this.#post(key, run);
    void this.#read(key);
  }
}

const firstReading: Reading = {
  isLoading: false,
  isRead: false,
  error: undefined,
  limit: pageOfMessages,
  hasEarlier: false,
  thinkingLevel: "off",
};

const missedFailure = {
  kind: "error",
  message: "This run failed while the page was not connected.",
  hint: undefined,
} as const;

function isLost(error: unknown): boolean {
  return (
    error instanceof OpenClawError && (error.code === "page.connection-lost" || error.code === "page.not-connected")
  );
}
