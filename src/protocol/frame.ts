// The three frames of the wire, and the errors a response may carry.
import { checker, Type } from "../core/schema.ts";

export const PROTOCOL_VERSION = 3;

export const requestFrame = checker(
  Type.Object(
    {
      type: Type.Literal("req"),
      id: Type.String({ minLength: 1, maxLength: 256 }),
      method: Type.String({ minLength: 1, maxLength: 256 }),
      params: Type.Optional(Type.Unknown()),
    },
    { additionalProperties: false },
  ),
);

export interface RequestFrame {
  readonly type: "req";
  readonly id: string;
  readonly method: string;
  readonly params?: unknown;
}

export type ErrorCode = "INVALID_REQUEST" | "NOT_PAIRED" | "UNAVAILABLE" | "NOT_LINKED" | "AGENT_TIMEOUT";

/** Clients read `WireError<string>`: another version of the gateway may send other codes. */
export interface WireError<Code extends string = ErrorCode> {
  readonly code: Code;
  readonly message: string;
  readonly details?: unknown;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
}

export type ResponseFrame =
  | { readonly type: "res"; readonly id: string; readonly ok: true; readonly payload: unknown }
  | { readonly type: "res"; readonly id: string; readonly ok: false; readonly error: WireError };

export interface StateVersion {
  readonly presence: number;
  readonly health: number;
}

export interface EventFrame {
  readonly type: "event";
  readonly event: string;
  readonly payload: unknown;
  readonly seq?: number;
  readonly stateVersion?: StateVersion;
}

/** Limits announced in hello-ok. */
export const WIRE_LIMITS = { maxPayload: 524_288, maxBufferedBytes: 1_572_864, tickIntervalMs: 30_000 } as const;

/** Close codes and what they mean here. */
export const CLOSE = {
  normal: 1000,
  protocol: 1002,
  policy: 1008,
  tooBig: 1009,
  restart: 1012,
  tryLater: 1013,
} as const;
