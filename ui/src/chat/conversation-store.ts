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

export interface ConversationStore {
  conversation(key: string): Conversation;
  reading(key: string): Reading;
  /** Reads the transcript unless it was read over this connection; call it before each render. */
  open(key: string): void;
  reread(key: string): void;
  earlier(key: string): void;
  send(key: string, text: string): void;
  retry(key: string, runId: string): void;
  discard(key: string, runId: string): void;
  stop(key: string): Promise<void>;
  isBusy(key: string): boolean;
  /** Counts ended runs and other changes that a list of sessions should show. */
  readonly settledCount: number;
  /** Calls the listener at most once per frame. Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void;
}

export const pageOfMessages = 200;
/** The limit of `chat.history`. */
export const mostMessages = 1000;

const rooms = new WeakMap<App, ConversationStore>();

/** One store per page, so that leaving the view loses nothing. */
export function conversationsOf(app: App): ConversationStore {
  const known = rooms.get(app);
  if (known !== undefined) return known;
  const conversations = createConversationStore(app, (step) => requestAnimationFrame(step));
  rooms.set(app, conversations);
  return conversations;
}

interface SessionState {
  conversation: Conversation;
  reading: Reading;
  /** The connection over which the transcript was last requested. */
  epoch: number;
  requestCount: number;
}

export function createConversationStore(
  { client, store }: App,
  schedule: (step: () => void) => void,
): ConversationStore {
  const sessions = new Map<string, SessionState>();
  const listeners = new Set<() => void>();
  let isNotifying = false;
  let settledCount = 0;

  const notify = (): void => {
    if (isNotifying) return;
    isNotifying = true;
    schedule(() => {
      isNotifying = false;
      for (const listener of listeners) listener();
    });
  };

  const stateOf = (key: string): SessionState => {
    const known = sessions.get(key);
    if (known !== undefined) return known;
    const session: SessionState = {
      conversation: transitions.emptyConversation,
      reading: firstReading,
      epoch: 0,
      requestCount: 0,
    };
    sessions.set(key, session);
    return session;
  };

  const change = (key: string, step: (conversation: Conversation) => Conversation): void => {
    const session = stateOf(key);
    session.conversation = step(session.conversation);
    notify();
  };

  const read = async (key: string, limit = stateOf(key).reading.limit): Promise<void> => {
    const session = stateOf(key);
    session.requestCount += 1;
    const requestNumber = session.requestCount;
    const covered = session.conversation.runs.filter(isOver).map(({ runId }) => runId);
    session.reading = { ...session.reading, isLoading: true, limit };
    notify();
    try {
      const { messages: raw, thinkingLevel = "off" } = await client.request("chat.history", { sessionKey: key, limit });
      if (requestNumber !== session.requestCount) return;
      const messages = raw.flatMap((entry) => toMessage(entry) ?? []);
      session.conversation = transitions.withHistory(session.conversation, messages, covered);
      const hasEarlier = raw.length >= limit;
      session.reading = { isLoading: false, isRead: true, error: undefined, limit, hasEarlier, thinkingLevel };
    } catch (error) {
      if (requestNumber !== session.requestCount) return;
      session.reading = { ...session.reading, isLoading: false, error };
    }
    notify();
  };

  /** The run id is the idempotency key: sending again starts no second run and returns its status. */
  const post = async (key: string, { runId, sent = "" }: Run): Promise<void> => {
    try {
      const { status } = await client.request("chat.send", { sessionKey: key, message: sent, idempotencyKey: runId });
      if (status === "ok" || status === "aborted") change(key, (now) => transitions.withEnded(now, runId));
      else if (status === "error") onEvent({ runId, sessionKey: key, seq: 0, change: missedFailure });
      else change(key, (now) => transitions.withAccepted(now, runId));
      if (status === "ok" || status === "aborted") void read(key);
    } catch (error) {
      if (isLost(error)) return; // it is sent again over the next connection
      const message = error instanceof Error ? error.message : String(error);
      change(key, (now) =>
        transitions.withUnsent(now, runId, message, error instanceof OpenClawError ? error.hint : undefined),
      );
    }
  };

  const onEvent = (event: RunEvent | undefined): void => {
    if (event === undefined) return;
    const { sessionKey, runId } = event;
    const wasOver = stateOf(sessionKey).conversation.runs.some((run) => run.runId === runId && isOver(run));
    change(sessionKey, (now) => transitions.withEvent(now, event));
    const isNowOver = stateOf(sessionKey).conversation.runs.some((run) => run.runId === runId && isOver(run));
    if (wasOver || !isNowOver) return;
    settledCount += 1;
    if (stateOf(sessionKey).reading.isRead) void read(sessionKey);
  };

  /** Missed events are not repeated: reads the transcript again and asks for the status of unanswered messages. */
  const resume = (key: string): void => {
    change(key, transitions.withoutOtherClients);
    for (const run of stateOf(key).conversation.runs) if (!isOver(run) && run.sent !== undefined) void post(key, run);
    void read(key);
  };

  client.on("chat", (payload) => onEvent(readChatEvent(payload)));
  client.on("agent", (payload) => onEvent(readAgentEvent(payload)));
  client.on("page.gap", () => {
    for (const session of sessions.values()) session.epoch = 0;
    notify();
  });

  return {
    conversation: (key) => stateOf(key).conversation,
    reading: (key) => stateOf(key).reading,
    open(key) {
      const session = stateOf(key);
      const { epoch, connection } = store.value;
      if (connection.phase !== "connected" || session.epoch === epoch) return;
      session.epoch = epoch;
      if (session.reading.isRead) resume(key);
      else void read(key);
    },
    reread: (key) => void read(key),
    earlier: (key) => void read(key, Math.min(mostMessages, stateOf(key).reading.limit + pageOfMessages)),
    send(key, text) {
      const runId = crypto.randomUUID();
      change(key, (now) => transitions.withSent(now, runId, text));
      const run = stateOf(key).conversation.runs.find((entry) => entry.runId === runId);
      if (run !== undefined) void post(key, run);
    },
    retry(key, runId) {
      const run = stateOf(key).conversation.runs.find((entry) => entry.runId === runId);
      if (run !== undefined) void post(key, run);
    },
    discard: (key, runId) => change(key, (now) => transitions.withoutRun(now, runId)),
    async stop(key) {
      const running = stateOf(key).conversation.runs.find(transitions.isRunning);
      const runId = running === undefined ? {} : { runId: running.runId };
      await client.request("chat.abort", { sessionKey: key, ...runId });
    },
    isBusy: (key) => sessions.get(key)?.conversation.runs.some((run) => !isOver(run)) ?? false,
    get settledCount() {
      return settledCount;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
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
