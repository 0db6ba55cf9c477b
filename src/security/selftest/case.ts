// The types of bundled attacks: the goal, the attempt, the expected result, and how a hole is recognized.
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

/** `safe`: the call may succeed, but without the dangerous effect. */
export type Expectation = "refused" | "asked" | "safe";

/**
 * `harm`: the canary was created, a secret was shown, or a file outside the workspace changed.
 * `done`: like `harm`, or the attempt succeeded at all.
 * `host`: like `done` where the session is not sandboxed; inside a sandbox only harm counts.
 */
export type HoleSign = "harm" | "done" | "host";

export interface Attack {
  /** `area/words`; unique. */
  readonly id: string;
  readonly wants: string;
  /** One call, several calls in a row, or a script. */
  readonly attempt: Call | readonly Call[] | AttackScript;
  readonly expect: Expectation;
  readonly sign: HoleSign;
  /** What to do about an open hole that no config key explains. */
  readonly fix: string;
}

export interface AttackScript {
  perform(environment: TestEnvironment): Promise<Outcome>;
}

/** Reads the method through its type, so that a rename cannot miss this check. */
export function isScript(attempt: Attack["attempt"]): attempt is AttackScript {
  return (attempt as Partial<AttackScript>).perform !== undefined;
}

/** Everyday use that must keep working. */
export interface Control {
  readonly id: string;
  readonly does: string;
  readonly attempt: Call | readonly Call[] | AttackScript;
  /** Text that the output must contain. */
  readonly says?: string;
}

const REPORT = "no config should allow this: please report it privately, see SECURITY.md";

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
