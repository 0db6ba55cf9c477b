// What a client without a session carries between the rounds of one request: signed, bound to the request, and short-lived.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import { isRecord } from "../../core/record.ts";
import { parseStrict } from "../../core/strict-json.ts";
import type { Clock } from "../../base/clock.ts";

export interface RoundState {
  /** What was answered in earlier rounds. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The approval that the client was asked about. */
  readonly approval?: string;
}

export interface RequestStates {
  /** `request` is what the state belongs to: method, name, arguments, session. */
  sign(state: RoundState, request: unknown): string;
  /** Undefined when it was changed, belongs to another request, is too old, or comes from before a restart. */
  verify(text: unknown, request: unknown): RoundState | undefined;
}

const MAX_AGE_MS = 3_600_000;

export function createRequestStates(clock: Pick<Clock, "now">): RequestStates {
  const key = randomBytes(32);
  /** Over the text as it is given out: another spelling of the same bytes is another text. */
  const seal = (head: string, request: unknown): Buffer =>
    createHmac("sha256", key).update(head).update("\n").update(digest(request)).digest();
  return {
    sign(state, request) {
      // The nonce makes each round's state another one.
      const body = JSON.stringify({ ...state, at: clock.now(), nonce: randomBytes(6).toString("base64url") });
      const head = Buffer.from(body).toString("base64url");
      return `${head}.${seal(head, request).toString("base64url")}`;
    },
    verify(text, request) {
      const [head = "", tail = "", ...rest] = typeof text === "string" ? text.split(".") : [];
      const given = Buffer.from(tail, "base64url");
      // Node skips characters outside the alphabet, so only the one spelling that was given out counts.
      if (rest.length > 0 || given.toString("base64url") !== tail) return undefined;
      const right = seal(head, request);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      const body = Buffer.from(head, "base64url").toString("utf8");
      const { at, answers, approval } = parseStrict(body) as Record<string, unknown>;
      if (typeof at !== "number" || clock.now() - at > MAX_AGE_MS || !isRecord(answers)) return undefined;
      return { answers, ...(typeof approval === "string" ? { approval } : {}) };
    },
  };
}

function digest(request: unknown): Buffer {
  return createHash("sha256").update(JSON.stringify(request)).digest();
}
