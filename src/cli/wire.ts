// The socket of a client: opens it, matches responses to requests, and rejects everything that waits when it closes.
import type { WebSocket } from "ws";

import type { OpenClawError } from "../core/error.ts";
import { newId } from "../base/ids.ts";
import type { WireError } from "../protocol/frame.ts";
import { closedEarly, otherCertificate, silent, unreachable } from "./client-failure.ts";
import type { Target } from "./target.ts";

export type Answer =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly error: WireError };

export interface Wire {
  readonly challenge: Promise<string>;
  request(method: string, params: unknown, timeoutMs: number, expectFinal?: boolean): Promise<Answer>;
  /** Every event from now on; returns how to stop listening. */
  readonly onEvent: (listener: EventListener) => () => void;
  /** Rejects when the socket closes unexpectedly; never resolves. */
  readonly ended: Promise<never>;
  readonly close: () => void;
}

export type EventListener = (event: string, payload: unknown) => void;

interface Waiting {
  readonly expectFinal: boolean;
  settle(answer: Answer): void;
  fail(error: OpenClawError): void;
}

/** Resolves when the socket is open. */
export async function openWire(target: Target): Promise<Wire> {
  const { WebSocket: Socket } = await import("ws");
  const socket = new Socket(target.url, {
    handshakeTimeout: target.timeoutMs,
    perMessageDeflate: false,
    ...(target.tlsFingerprint === undefined ? {} : pinned),
  });
  const challenge = Promise.withResolvers<string>();
  challenge.promise.catch(() => undefined); // the caller that waits for it gets the error
  const waiting = new Map<string, Waiting>();
  const listeners = new Set<EventListener>();
  const end = Promise.withResolvers<never>();
  end.promise.catch(() => undefined);
  let ended: OpenClawError | undefined;

  const failAll = (error: OpenClawError): void => {
    ended ??= error;
    end.reject(error);
    challenge.reject(error);
    for (const request of waiting.values()) request.fail(error);
    waiting.clear();
  };
  socket.on("message", (bytes: Buffer) => receive(bytes, { challenged: challenge.resolve, waiting, listeners }));
  socket.on("close", (code, reason) => failAll(closedEarly(code, reason.toString("utf8"), target)));
  await Promise.race([opened(socket, target), rightCertificate(socket, target)]);
  socket.on("error", (cause) => failAll(unreachable(cause, target)));

  return {
    challenge: withTimeout(challenge.promise, target.timeoutMs, () => silent("send its challenge", target)),
    request(method, params, timeoutMs, expectFinal = false) {
      // A closed socket accepts data without an error.
      if (ended !== undefined) return Promise.reject(ended);
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const id = newId();
      waiting.set(id, { expectFinal, settle: resolve, fail: reject });
      socket.send(JSON.stringify({ type: "req", id, method, ...(params === undefined ? {} : { params }) }));
      return withTimeout(promise, timeoutMs, () => silent(`respond to ${method}`, target, timeoutMs)).finally(() =>
        waiting.delete(id),
      );
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    ended: end.promise,
    close() {
      socket.removeAllListeners("close");
      socket.close();
      // A gateway that does not close the connection must not keep a finished command waiting.
      setTimeout(() => socket.terminate(), 300).unref();
    },
  };
}

/** Any signer is accepted: the fingerprint is checked before anything is sent. */
const pinned = { rejectUnauthorized: false };

/** Rejects when the certificate does not match; never resolves. */
function rightCertificate(socket: WebSocket, target: Target): Promise<never> {
  return new Promise((_, reject) => {
    const { tlsFingerprint } = target;
    if (tlsFingerprint === undefined) return;
    socket.once("upgrade", ({ socket: below }) => {
      const seen = certificateOf(below);
      if (seen === tlsFingerprint) return;
      reject(otherCertificate(target, seen));
      socket.on("error", () => undefined); // closing it before it is open emits an error
      socket.terminate();
    });
  });
}

function certificateOf(below: unknown): string | undefined {
  const { getPeerCertificate } = below as { getPeerCertificate?: () => { fingerprint256?: string } };
  return getPeerCertificate?.call(below).fingerprint256?.replaceAll(":", "").toLowerCase();
}

function opened(socket: WebSocket, target: Target): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      socket.removeAllListeners("error");
      resolve();
    });
    socket.once("error", (cause) => reject(unreachable(cause, target)));
  });
}

interface FrameHandlers {
  readonly challenged: (nonce: string) => void;
  readonly waiting: ReadonlyMap<string, Waiting>;
  readonly listeners: ReadonlySet<EventListener>;
}

function receive(bytes: Buffer, { challenged, waiting, listeners }: FrameHandlers): void {
  const frame = parseFrame(bytes);
  if (frame?.["type"] === "event" && frame["event"] === "connect.challenge") {
    const nonce = (frame["payload"] as { nonce?: unknown } | undefined)?.nonce;
    if (typeof nonce === "string") challenged(nonce);
    return;
  }
  if (frame?.["type"] === "event" && typeof frame["event"] === "string") {
    for (const listener of listeners) listener(frame["event"], frame["payload"]);
    return;
  }
  if (frame?.["type"] !== "res" || typeof frame["id"] !== "string") return;
  const request = waiting.get(frame["id"]);
  if (request === undefined) return;
  if (frame["ok"] !== true) return request.settle({ ok: false, error: toWireError(frame["error"]) });
  const isFirstOfTwo =
    request.expectFinal && (frame["payload"] as { status?: unknown } | undefined)?.status === "accepted";
  if (!isFirstOfTwo) request.settle({ ok: true, payload: frame["payload"] });
}

/** Ignores what is not a frame, as the gateway does. */
function parseFrame(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toWireError(raw: unknown): WireError {
  const { code, message, details } = (typeof raw === "object" && raw !== null ? raw : {}) as Partial<WireError>;
  return {
    code: code ?? "UNAVAILABLE",
    message: typeof message === "string" ? message : "the gateway gave no reason",
    details,
  };
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number, slot: () => OpenClawError): Promise<T> {
  const timer = Promise.withResolvers<never>();
  const ticking = setTimeout(() => timer.reject(slot()), timeoutMs);
  try {
    return await Promise.race([work, timer.promise]);
  } finally {
    clearTimeout(ticking);
  }
}
