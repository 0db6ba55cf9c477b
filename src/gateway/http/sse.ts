// Server-sent events: opened once, written in order, ended by us or by a reader who left.
import type { ServerResponse } from "node:http";

export interface EventStream {
  send(value: unknown, event?: string): void;
  /** `data: [DONE]`, then the end. */
  done(): void;
  readonly gone: AbortSignal;
}

const MAX_BUFFERED = 4_000_000;

export function openEventStream(response: ServerResponse): EventStream {
  const control = new AbortController();
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    connection: "keep-alive",
  });
  response.on("close", () => control.abort());
  const write = (text: string): void => {
    if (response.writableEnded || response.destroyed) return;
    // A reader that stopped reading is cut, so that it cannot fill our memory.
    if (response.writableLength > MAX_BUFFERED) response.destroy();
    else response.write(text);
  };
  return {
    gone: control.signal,
    send: (value, event) =>
      write(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`),
    done() {
      write("data: [DONE]\n\n");
      response.end();
    },
  };
}
