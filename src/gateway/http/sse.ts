// Server-sent events: opened once, written in order, ended by us or by a client that disconnects.
import type { ServerResponse } from "node:http";

import { WIRE_LIMITS } from "../../protocol/frame.ts";
import { goneSignal } from "./answer.ts";

export interface EventStream {
  send(value: unknown, event?: string): void;
  /** Writes `data: [DONE]` and ends the stream. */
  done(): void;
  readonly gone: AbortSignal;
}

export function openEventStream(response: ServerResponse): EventStream {
  const gone = goneSignal(response);
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    connection: "keep-alive",
  });
  const write = (text: string): void => {
    if (response.writableEnded || response.destroyed) return;
    // A client that stopped reading is disconnected, so that it cannot fill our memory.
    if (response.writableLength > WIRE_LIMITS.maxBufferedBytes) response.destroy();
    else response.write(text);
  };
  return {
    gone,
    send: (value, event) =>
      write(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`),
    done() {
      write("data: [DONE]\n\n");
      response.end();
    },
  };
}
