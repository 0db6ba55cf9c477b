// Checks whether a program listens at an address, without sending anything; cheap enough to run before the client loads.
import type { Target } from "./target.ts";

export async function isListening(target: Target): Promise<boolean> {
  const { hostname, port, protocol } = new URL(target.url);
  if (port === "0") return false; // "any free port": only a running gateway knows which
  const { connect } = await import("node:net");
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: port === "" ? (protocol === "wss:" ? 443 : 80) : Number(port) });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.setTimeout(target.timeoutMs, () => resolve(false));
  socket.once("connect", () => resolve(true));
  socket.once("error", () => resolve(false));
  const answer = await promise;
  socket.destroy();
  return answer;
}
