// One connected client after the handshake: who it is and how frames reach it.
import type { ConnectParams } from "../protocol/connect.ts";
import type { StateVersion, WireError } from "../protocol/frame.ts";
import type { Role } from "../protocol/scope.ts";
import type { NodeAbilities } from "../protocol/methods/devices.ts";
import { frameAround, PreparedJson, textFrame, type Frame } from "./frame-bytes.ts";

export interface Client {
  readonly connId: string;
  readonly role: Role;
  readonly scopes: readonly string[];
  readonly deviceId: string | undefined;
  readonly info: ConnectParams["client"];
  readonly caps: readonly string[];
  /** Of a node: what it offers, what its system permits, and where its programs are. */
  readonly commands: readonly string[];
  readonly permissions: Readonly<Record<string, boolean>> | undefined;
  readonly pathEnv: string | undefined;
  /** Of a node: what the owner has approved; the node can use the part of it that it offers. */
  approve(abilities: NodeAbilities): void;
  readonly address: string;
  readonly local: boolean;
  readonly connectedAt: number;
  /** Sessions that its requests named: with many clients connected, text streams only to those. */
  readonly sessions: Set<string>;
  /** Aborts when the connection ends; work started for this client listens to it. */
  readonly gone: AbortSignal;
  /** Sends an event now. */
  send(frame: Frame): void;
  /** Sends an event with the next flush, before whatever is sent first. */
  queue(frame: Frame): void;
  flush(): void;
  answer(frame: Frame): void;
  close(code: number, reason: string): void;
}

/** Why work for a client is aborted. Created once: an error with its own stack per request would be most of the cost. */
export const clientLeft = new DOMException("the client disconnected", "AbortError");

export function okFrame(id: string, payload: unknown): Frame {
  const start = `{"type":"res","id":${JSON.stringify(id)},"ok":true`;
  if (payload === undefined) return textFrame(`${start}}`);
  if (payload instanceof PreparedJson) return frameAround(`${start},"payload":`, payload, "}");
  return textFrame(`${start},"payload":${JSON.stringify(payload)}}`);
}

export function errorFrame(id: string, error: WireError): Frame {
  return textFrame(JSON.stringify({ type: "res", id, ok: false, error }));
}

/** An event around a payload that is already JSON. */
export function eventFrame(
  event: string,
  payload: string,
  { seq, stateVersion }: { readonly seq?: number; readonly stateVersion?: StateVersion | undefined } = {},
): Frame {
  const number = seq === undefined ? "" : `,"seq":${seq}`;
  const version = stateVersion === undefined ? "" : `,"stateVersion":${JSON.stringify(stateVersion)}`;
  return textFrame(`{"type":"event","event":"${event}","payload":${payload}${number}${version}}`);
}

/** Close reasons have at most 123 bytes on the wire; recorded ones are cut to 120. */
export function closeReason(message: string): string {
  let cut = message.slice(0, 120);
  while (Buffer.byteLength(cut) > 120) cut = cut.slice(0, -1);
  return cut.toWellFormed();
}
