// The output of one connection: frames in order, bytes counted, clients that stop reading disconnected.
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

import { CLOSE, WIRE_LIMITS } from "../protocol/frame.ts";
import { sizeOf, type Frame } from "./frame-bytes.ts";

export interface Outbox {
  /** Bytes that the client has not read yet. */
  waiting(): number;
  /** Never disconnects by itself: requests are not started while much is waiting. */
  answer(frame: Frame): void;
  /** Disconnects a client that lets events pile up beyond the announced limit. */
  event(frame: Frame): void;
  /** An event that is written with the next flush, response or event. */
  queue(frame: Frame): void;
  flush(): void;
}

/** How long a client may read nothing while data waits for it. */
export const UNREAD_MS = 30_000;

type RawSocket = Duplex & { setTimeout?(ms: number): unknown };

/** `raw` is the stream below `socket`; frames are written to it directly. `onDrain` is called when all were read. */
export function createOutbox(socket: WebSocket, raw: RawSocket, onDrain: () => void): Outbox {
  let queued: Frame[] = [];
  let queuedBytes = 0;
  /** Bytes of events since the client had last read everything. */
  let eventBytes = 0;
  let isCorked = false;

  const waiting = (): number => raw.writableLength + queuedBytes;
  const disconnect = (): void => {
    socket.close(CLOSE.policy, "slow consumer");
    socket.terminate();
  };
  const write = (frame: Frame | undefined): void => {
    if (socket.readyState !== socket.OPEN) return;
    const frames = frame === undefined ? queued : [...queued, frame];
    queued = [];
    queuedBytes = 0;
    if (!isCorked) {
      isCorked = true;
      raw.cork();
      process.nextTick(uncork);
    }
    for (const pieces of frames) for (const piece of pieces) raw.write(piece);
  };
  /** Everything sent within one tick is one write. */
  const uncork = (): void => {
    isCorked = false;
    raw.uncork();
  };
  const admit = (frame: Frame): boolean => {
    if (socket.readyState !== socket.OPEN) return false;
    if (waiting() === 0) eventBytes = 0;
    else if (eventBytes > WIRE_LIMITS.maxBufferedBytes && waiting() > WIRE_LIMITS.maxBufferedBytes) {
      disconnect();
      return false;
    }
    eventBytes += sizeOf(frame);
    return true;
  };

  raw.on("drain", onDrain);
  raw.setTimeout?.(UNREAD_MS);
  // Fires only when neither side made progress; a client with nothing to read is not affected.
  raw.on("timeout", () => {
    if (waiting() > 0) disconnect();
  });

  return {
    waiting,
    answer: write,
    event(frame) {
      if (admit(frame)) write(frame);
    },
    queue(frame) {
      if (!admit(frame)) return;
      queued.push(frame);
      queuedBytes += sizeOf(frame);
    },
    flush() {
      if (queued.length > 0) write(undefined);
    },
  };
}
