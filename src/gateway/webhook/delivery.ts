// Handles a delivery once: by the id of its sender, stored across restarts, with the same response each time.
import type { IncomingHttpHeaders } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { sha256 } from "../../base/ids.ts";
import type { Clock } from "../../base/clock.ts";
import type { DedupeTable, KvWrite } from "../../store/store.ts";

/** How long a sender may repeat a delivery with the same id. */
const WINDOW_MS = 24 * 3_600_000;
const FORGET_EVERY_MS = 3_600_000;
const SCOPE = "webhook";
const MAX_ID = 200;
const headerNames = ["x-openclaw-delivery", "x-github-delivery", "idempotency-key"] as const;

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

export interface Delivery {
  /** Undefined when the request has no delivery id. */
  readonly key: string | undefined;
  readonly digest: string;
}

/** Stores the response together with the effect of the delivery, so that no effect is without its record. */
export type Keep = (answer: Answer, also: KvWrite | undefined) => Promise<void>;

/** Without a key the delivery is not recorded, and there is no `keep`. */
export type Work = (keep: Keep | undefined) => Promise<Answer>;

export type DoOnce = (delivery: Delivery, work: Work) => Promise<Answer>;

/** `signature` replaces a missing id, so that a signed request cannot be replayed either. */
export function deliveryOf(
  headers: IncomingHttpHeaders,
  path: string,
  body: Uint8Array,
  signature: string | undefined,
): Delivery {
  const name = headerNames.find((header) => headers[header] !== undefined);
  const given = name === undefined ? undefined : headers[name];
  if (name !== undefined && (typeof given !== "string" || given.trim() === "" || given.length > MAX_ID))
    throw new OpenClawError("hook.bad-request", `${name} must have 1 to ${MAX_ID} characters`);
  const id = typeof given === "string" ? `${name} ${given.trim()}` : signature;
  return { key: id === undefined ? undefined : sha256(`${path}\n${id}`), digest: sha256(body) };
}

/** A signature does not cover headers: an attacker who replays a signed request could give it another id. */
export function signedOnce(doOnce: DoOnce, path: string, signature: string | undefined): DoOnce {
  if (signature === undefined) return doOnce;
  const key = sha256(`signed ${path}\n${signature}`);
  return (delivery, work) => doOnce({ key, digest: delivery.digest }, () => doOnce(delivery, work));
}

export function createDoOnce(dedupe: DedupeTable, clock: Clock): DoOnce {
  let lookedAt = clock.now();
  const removeStaleLinks = async (): Promise<void> => {
    if (clock.now() - lookedAt < FORGET_EVERY_MS) return;
    lookedAt = clock.now();
    await dedupe.prune(lookedAt);
  };
  const underWay = new Map<string, { readonly digest: string; readonly answer: Promise<Answer> }>();
  const remembered = async (key: string, digest: string, work: Work): Promise<Answer> => {
    await removeStaleLinks();
    const claim = await dedupe.claim(SCOPE, key, clock.now() + WINDOW_MS);
    const before = claim.fresh ? undefined : asKept(claim.result);
    if (before !== undefined) {
      if (before.digest !== digest) throw reused();
      return before.answer;
    }
    // New, rejected before, or interrupted by the end of a gateway before the sender got a response.
    let isKept = false;
    const keep: Keep = async (answer, also) => {
      await dedupe.settle(SCOPE, key, { digest, answer }, also);
      isKept = true;
    };
    const answer = await work(keep);
    if (!isKept) await keep(answer, undefined);
    return answer;
  };
  return async function doOnce({ key, digest }, work) {
    if (key === undefined) return work(undefined);
    const same = underWay.get(key);
    if (same !== undefined) {
      if (same.digest !== digest) throw reused();
      return same.answer;
    }
    const answer = remembered(key, digest, work).finally(() => underWay.delete(key));
    underWay.set(key, { digest, answer });
    return answer;
  };
}

/** The same delivery gets the same run id, so that the inbox recognizes it too. */
export function runIdOf(key: string): string {
  const hex = sha256(`run ${key}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-9${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function asKept(value: unknown): { readonly digest: string; readonly answer: Answer } | undefined {
  const { digest, answer } = (value ?? {}) as { digest?: unknown; answer?: Answer };
  return typeof digest === "string" && typeof answer?.status === "number" ? { digest, answer } : undefined;
}

function reused(): OpenClawError {
  return new OpenClawError("hook.bad-request", "this delivery id was used for another body", {
    hint: "give each delivery a new id",
  });
}
