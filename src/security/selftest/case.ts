// The form of a bundled attack: what somebody wants, what they do, what must happen instead, and how a hole would show.
import type { Call, Outcome } from "./call.ts";
import type { TestEnvironment } from "./environment.ts";

export type { Call, Ended, Outcome } from "./call.ts";

export const areas = [
  "exec-shell",
  "exec-wrappers",
  "exec-safe-bins",
  "exec-env",
  "approvals",
  "process",
  "fs",
  "apply_patch",
  "sandbox",
  "policy",
  "secrets",
  "gateway",
  "sessions",
] as const;
export type Area = (typeof areas)[number];

/** `safe`: it may happen, but without the dangerous part. */
export type Expectation = "refused" | "asked" | "safe";

/**
 * `harm`: the canary came to be, a secret was said, or a file outside the workspace changed.
 * `done`: the same, and also that the attempt was let through at all.
 * `host`: the same as `done` where the session is not sandboxed; inside a sandbox only harm counts.
 */
export type HoleSign = "harm" | "done" | "host";

export interface Attack {
  /** `area/words`; never given twice. */
  readonly id: string;
  readonly wants: string;
  /** One call, calls in a row, or a scene played in code where data cannot say it. */
  readonly attempt: Call | readonly Call[] | AttackScript;
  readonly expect: Expectation;
  readonly sign: HoleSign;
  /** What to do about an open hole when the config is not to blame. */
  readonly fix: string;
}

export interface AttackScript {
  perform(environment: TestEnvironment): Promise<Outcome>;
}

/** The method is read through its type, so that a rename cannot leave this test behind. */
export function isScript(attempt: Attack["attempt"]): attempt is AttackScript {
  return (attempt as Partial<AttackScript>).perform !== undefined;
}

/** Everyday use that must go on working. */
export interface Control {
  readonly id: string;
  readonly does: string;
  readonly attempt: Call | readonly Call[] | AttackScript;
  /** Must be in what was said. */
  readonly says?: string;
}

const REPORT = "this should hold under any config: please report it privately, see SECURITY.md";

/** Attacks of one area that share a fix. */
export function attacksOf(
  area: Area,
  rows: readonly (readonly [
    words: string,
    wants: string,
    attempt: Attack["attempt"],
    expect: Expectation,
    sign?: HoleSign,
  ])[],
  fix = REPORT,
): Attack[] {
  return rows.map(([words, wants, attempt, expect, sign = "harm"]) => ({
    id: `${area}/${words}`,
    wants,
    attempt,
    expect,
    sign,
    fix,
  }));
}

export function areaOf({ id }: Attack): Area {
  return id.slice(0, id.indexOf("/")) as Area;
}
