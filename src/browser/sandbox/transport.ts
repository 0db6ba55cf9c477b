// The CDP connection to a browser in a sandbox, without messages by which a browser that was taken over would reach out.
import type { ConnectOverCDPTransport } from "playwright-core";
import { WebSocket } from "ws";

import { isRecord } from "../../core/record.ts";

/** A browser that was taken over may send anything. */
type Message = Readonly<Record<string, unknown>>;

/** `ws+unix:<socket>:<path>`. */
export async function openTransport(url: string, timeoutMs: number): Promise<ConnectOverCDPTransport> {
  const socket = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: timeoutMs });
  const transport: ConnectOverCDPTransport = {
    send: (message) => socket.send(JSON.stringify(message)),
    close: () => socket.close(),
  };
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("message", (data: Buffer) => {
    try {
      const message: unknown = JSON.parse(data.toString("utf8"));
      if (!isRecord(message)) socket.terminate();
      else if (!isEscape(message)) transport.onmessage?.(message);
    } catch {
      // Not JSON, or nothing that Playwright understands; thrown further, it would end the gateway.
      socket.terminate();
    }
  });
  socket.on("error", () => socket.terminate());
  socket.on("close", () => transport.onclose?.("the browser closed the connection"));
  return transport;
}

/** Playwright reads and deletes the file of a download by the name that the browser gives it. */
export function isEscape({ method, params }: Message): boolean {
  if (typeof method !== "string" || !method.endsWith(".downloadWillBegin")) return false;
  const guid = isRecord(params) ? params["guid"] : undefined;
  return typeof guid !== "string" || !/^[0-9a-zA-Z-]{1,64}$/.test(guid);
}
