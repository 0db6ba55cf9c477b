// Slows down wrong secrets without rejecting right ones: only failures count, and only guessable secrets are compared at a limited rate.
import { setTimeout as sleep } from "node:timers/promises";

import type { Clock } from "../base/clock.ts";
import { Lru } from "../base/lru.ts";
import type { Peer } from "./peer.ts";

/** Number of wrong secrets that get a response at full speed; after that the caller is slowed down. */
const FREE_FAILURES = 10;
const FORGET_MS = 5 * 60_000;
/** Time between two comparisons of a guessable secret, after too many wrong ones. */
const LOCAL_SPACING_MS = 200;
const REMOTE_SPACING_MS = 5000;
/** A caller that would wait longer than this is asked to retry; shorter than the handshake deadline. */
const MAX_WAIT_MS = 9000;

export interface Caller {
  readonly key: string;
  readonly spacingMs: number;
}

export type Verdict = { readonly ok: true } | { readonly ok: false; readonly waitMs: number };

export interface Attempt {
  readonly caller: Caller;
  /** Short or chosen by a person, so that guessing may succeed. */
  readonly guessable: boolean;
  readonly isRight: () => boolean;
}

export interface Throttle {
  /** `waitMs` above 0: there were too many wrong secrets, and the caller should wait this long. */
  check(attempt: Attempt): Promise<Verdict>;
}

interface Failures {
  count: number;
  last: number;
  /** When the next guessable secret of this caller may be compared. */
  nextAt: number;
}

export function createThrottle(clock: Clock): Throttle {
  const callers = new Lru<Failures>(10_000);
  const failuresOf = (key: string): Failures | undefined => {
    const known = callers.get(key);
    return known !== undefined && clock.ticks() - known.last < FORGET_MS ? known : undefined;
  };

  /** Compares and counts in one step: concurrent requests cannot share one free attempt. */
  const compare = ({ caller, isRight }: Attempt): Verdict => {
    if (isRight()) return { ok: true };
    const now = clock.ticks();
    const { count, nextAt } = failuresOf(caller.key) ?? { count: 0, nextAt: 0 };
    callers.set(caller.key, { count: count + 1, last: now, nextAt });
    return { ok: false, waitMs: count < FREE_FAILURES ? 0 : Math.max(caller.spacingMs, nextAt - now) };
  };

  return {
    async check(attempt) {
      const { caller, guessable } = attempt;
      const failures = failuresOf(caller.key);
      if (!guessable || failures === undefined || failures.count < FREE_FAILURES) return compare(attempt);
      const now = clock.ticks();
      const waitMs = Math.max(0, failures.nextAt - now);
      if (waitMs > MAX_WAIT_MS) return { ok: false, waitMs };
      failures.nextAt = now + waitMs + caller.spacingMs;
      if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
      return compare(attempt);
    },
  };
}

/** A remote caller never slows down the owner on this machine, even if both use one proxy. */
export function callerOf({ address, local }: Peer, purpose = "gateway"): Caller {
  if (local) return { key: `${purpose} local`, spacingMs: LOCAL_SPACING_MS };
  return { key: `${purpose} ${networkOf(address)}`, spacingMs: REMOTE_SPACING_MS };
}

/** A paired device has proved its key, so guesses by others at its address do not count against it. */
export function callerOfDevice(deviceId: string): Caller {
  return { key: `device ${deviceId}`, spacingMs: LOCAL_SPACING_MS };
}

/** A customer has at least a /64 of IPv6, so single addresses cannot be counted. */
function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}
