// One connected client after the handshake: who it is and how frames reach it. Slow readers are cut.
import type { WebSocket } from "ws";

import type { ConnectParams } from "../protocol/connect.ts";
import { CLOSE, WIRE_LIMITS, type WireError } from "../protocol/frame.ts";
import type { Role } from "../protocol/scope.ts";

export interface Client {
  readonly connId: string;
  readonly role: Role;
  readonly scopes: readonly string[];
  readonly deviceId: string | undefined;
  readonly info: ConnectParams["client"];
  readonly caps: readonly string[];
  /** Of a node: what it offers, what its system lets it, and where its programs are. */
  readonly commands: readonly string[];
  readonly permissions: Readonly<Record<string, boolean>> | undefined;
  readonly pathEnv: string | undefined;
  readonly address: string;
  readonly local: boolean;
  readonly connectedAt: number;
  /** Aborts when the connection ends; work started for this client listens to it. */
  readonly gone: AbortSignal;
  send(frame: string): void;
  close(code: number, reason: string): void;
}

/** Sends unless the client has stopped reading; then it is cut, so that it cannot fill our memory. */
export function sendBounded(socket: WebSocket, frame: string): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > WIRE_LIMITS.maxBufferedBytes) {
    socket.close(CLOSE.policy, "slow consumer");
    socket.terminate();
    return;
  }
  socket.send(frame);
}

export function okFrame(id: string, payload: unknown): string {
  const body = payload === undefined ? "" : `,"payload":${JSON.stringify(payload)}`;
  return `{"type":"res","id":${JSON.stringify(id)},"ok":true${body}}`;
}

export function errorFrame(id: string, error: WireError): string {
  return JSON.stringify({ type: "res", id, ok: false, error });
}

/** Close reasons are at most 123 bytes on the wire; the recorded ones are cut to 120. */
export function closeReason(message: string): string {
  let cut = message.slice(0, 120);
  while (Buffer.byteLength(cut) > 120) cut = cut.slice(0, -1);
  return cut.toWellFormed();
}
