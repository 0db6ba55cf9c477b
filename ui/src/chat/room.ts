// Holds the conversations of the page while it is open: reads transcripts, hears runs, sends and stops.
import { OpenClawError } from "../../../src/core/error.ts";
import type { App } from "../app.ts";
import * as talk from "./conversation.ts";
import type { Conversation } from "./conversation.ts";
import { isOver, type Run } from "./run.ts";
import { readAgentEvent, readChatEvent, toMessage, type RunEvent } from "./shape.ts";

export interface Reading {
  readonly isLoading: boolean;
  readonly isRead: boolean;
  readonly error: unknown;
  /** How many messages were asked for. */
  readonly limit: number;
  /** The transcript is longer than what was read. */
  readonly hasEarlier: boolean;
  readonly thinkingLevel: string;
}

export interface Room {
  conversation(key: string): Conversation;
  reading(key: string): Reading;
  /** Reads the transcript unless it is known over this connection; call it before each drawing. */
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
  /** Told at most once a frame. Returns the function that ends it. */
  subscribe(listener: () => void): () => void;
}

export const pageOfMessages = 200;
/** The wire gives no more at once. */
export const mostMessages = 1000;

const rooms = new WeakMap<App, Room>();

/** Stays for as long as the page does, so that leaving the view loses nothing. */
export function roomOf(app: App): Room {
  const known = rooms.get(app);
  if (known !== undefined) return known;
  const room = createRoom(app, (step) => requestAnimationFrame(step));
  rooms.set(app, room);
  return room;
}

interface Place {
  conversation: Conversation;
  reading: Reading;
  /** The connection over which the transcript was last asked for. */
  epoch: number;
  asked: number;
}

export function createRoom({ client, store }: App, soon: (step: () => void) => void): Room {
  const places = new Map<string, Place>();
  const listeners = new Set<() => void>();
  let isTelling = false;
  let settledCount = 0;

  const tell = (): void => {
    if (isTelling) return;
    isTelling = true;
    soon(() => {
      isTelling = false;
      for (const listener of listeners) listener();
    });
  };

  const placeOf = (key: string): Place => {
    const known = places.get(key);
    if (known !== undefined) return known;
    const place: Place = { conversation: talk.emptyConversation, reading: firstReading, epoch: 0, asked: 0 };
    places.set(key, place);
    return place;
  };

  const change = (key: string, step: (conversation: Conversation) => Conversation): void => {
    const place = placeOf(key);
    place.conversation = step(place.conversation);
    tell();
  };

  const read = async (key: string, limit = placeOf(key).reading.limit): Promise<void> => {
    const place = placeOf(key);
    place.asked += 1;
    const mine = place.asked;
    const covered = place.conversation.runs.filter(isOver).map(({ runId }) => runId);
    place.reading = { ...place.reading, isLoading: true, limit };
    tell();
    try {
      const { messages: raw, thinkingLevel = "off" } = await client.request("chat.history", { sessionKey: key, limit });
      if (mine !== place.asked) return;
      const messages = raw.flatMap((entry) => toMessage(entry) ?? []);
      place.conversation = talk.withHistory(place.conversation, messages, covered);
      const hasEarlier = raw.length >= limit;
      place.reading = { isLoading: false, isRead: true, error: undefined, limit, hasEarlier, thinkingLevel };
    } catch (error) {
      if (mine !== place.asked) return;
      place.reading = { ...place.reading, isLoading: false, error };
    }
    tell();
  };

  /** The run id is the idempotency key: asking again starts nothing twice and tells what became of it. */
  const post = async (key: string, { runId, sent = "" }: Run): Promise<void> => {
    try {
      const { status } = await client.request("chat.send", { sessionKey: key, message: sent, idempotencyKey: runId });
      if (status === "ok" || status === "aborted") change(key, (now) => talk.withEnded(now, runId));
      else if (status === "error") hear({ runId, sessionKey: key, seq: 0, change: missedFailure });
      else change(key, (now) => talk.withAccepted(now, runId));
      if (status === "ok" || status === "aborted") void read(key);
    } catch (error) {
      if (isLost(error)) return; // it goes out again over the next connection
      const message = error instanceof Error ? error.message : String(error);
      change(key, (now) =>
        talk.withUnsent(now, runId, message, error instanceof OpenClawError ? error.hint : undefined),
      );
    }
  };

  const hear = (event: RunEvent | undefined): void => {
    if (event === undefined) return;
    const { sessionKey, runId } = event;
    const wasOver = placeOf(sessionKey).conversation.runs.some((run) => run.runId === runId && isOver(run));
    change(sessionKey, (now) => talk.withEvent(now, event));
    const isNowOver = placeOf(sessionKey).conversation.runs.some((run) => run.runId === runId && isOver(run));
    if (wasOver || !isNowOver) return;
    settledCount += 1;
    if (placeOf(sessionKey).reading.isRead) void read(sessionKey);
  };

  /** What was missed is not sent again: the transcript is read anew and messages on their way are asked after. */
  const resume = (key: string): void => {
    change(key, talk.withoutStrangers);
    for (const run of placeOf(key).conversation.runs) if (!isOver(run) && run.sent !== undefined) void post(key, run);
    void read(key);
  };

  client.on("chat", (payload) => hear(readChatEvent(payload)));
  client.on("agent", (payload) => hear(readAgentEvent(payload)));
  client.on("page.gap", () => {
    for (const place of places.values()) place.epoch = 0;
    tell();
  });

  return {
    conversation: (key) => placeOf(key).conversation,
    reading: (key) => placeOf(key).reading,
    open(key) {
      const place = placeOf(key);
      const { epoch, connection } = store.value;
      if (connection.phase !== "connected" || place.epoch === epoch) return;
      place.epoch = epoch;
      if (place.reading.isRead) resume(key);
      else void read(key);
    },
    reread: (key) => void read(key),
    earlier: (key) => void read(key, Math.min(mostMessages, placeOf(key).reading.limit + pageOfMessages)),
    send(key, text) {
      const runId = crypto.randomUUID();
      change(key, (now) => talk.withSent(now, runId, text));
      const run = placeOf(key).conversation.runs.find((entry) => entry.runId === runId);
      if (run !== undefined) void post(key, run);
    },
    retry(key, runId) {
      const run = placeOf(key).conversation.runs.find((entry) => entry.runId === runId);
      if (run !== undefined) void post(key, run);
    },
    discard: (key, runId) => change(key, (now) => talk.withoutRun(now, runId)),
    async stop(key) {
      const running = placeOf(key).conversation.runs.find(talk.isRunning);
      const runId = running === undefined ? {} : { runId: running.runId };
      await client.request("chat.abort", { sessionKey: key, ...runId });
    },
    isBusy: (key) => places.get(key)?.conversation.runs.some((run) => !isOver(run)) ?? false,
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
