// Reads the WebSocket frames the gateway writes, with the receiver of the ws library.
import type { Writable } from "node:stream";
import * as ws from "ws";

import type { Clock } from "../../src/base/clock.ts";
import type { Client } from "../../src/gateway/client.ts";
import type { Frame } from "../../src/gateway/frame-bytes.ts";

// The types of the library leave it out.
const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable };

export function readFrame(frame: Frame): unknown {
  let text = "";
  const receiver = new Receiver({ isServer: false });
  receiver.on("message", (data: Buffer) => (text = data.toString()));
  receiver.write(Buffer.concat(frame));
  return JSON.parse(text);
}

/** A client that keeps what it is sent, in order; `queue` is seen with the next flush. */
export function fakeClient(more: Partial<Client> = {}): Client & { readonly received: unknown[]; writes: number } {
  const received: unknown[] = [];
  let queued: Frame[] = [];
  const client = {
    role: "operator",
    scopes: ["operator.admin"],
    caps: [],
    sessions: new Set<string>(),
    received,
    writes: 0,
    send(frame: Frame) {
      queued.push(frame);
      client.flush();
    },
    queue: (frame: Frame) => void queued.push(frame),
    flush() {
      if (queued.length === 0) return;
      client.writes += 1;
      for (const frame of queued) received.push(readFrame(frame));
      queued = [];
    },
    ...more,
  };
  return client as Client & { readonly received: unknown[]; writes: number };
}

/** Time that only moves when a test moves it, and work that waits for it. */
export function fakeTime(): Clock & {
  advance(ms: number): void;
  after(ms: number, work: () => void): { clear(): void };
  soon(work: () => void): void;
} {
  let now = 0;
  let waiting: { readonly at: number; readonly work: () => void }[] = [];
  const after = (ms: number, work: () => void): { clear(): void } => {
    const entry = { at: now + ms, work };
    waiting.push(entry);
    return { clear: () => void (waiting = waiting.filter((other) => other !== entry)) };
  };
  return {
    now: () => now,
    ticks: () => now,
    after,
    soon: (work) => void after(0, work),
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = waiting.toSorted((a, b) => a.at - b.at).find(({ at }) => at <= until);
        if (due === undefined) break;
        waiting = waiting.filter((entry) => entry !== due);
        now = Math.max(now, due.at);
        due.work();
      }
      now = Math.max(now, until);
    },
  };
}
