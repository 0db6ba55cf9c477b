// Computes what "allow always" would add: each program with these exact arguments in this folder, never a shell or interpreter.
import type { AllowEntry } from "./effective.ts";
import { literalPattern } from "./allowlist.ts";
import { judgedOf, whyNotAlways } from "./argument-rules.ts";
import { programHash } from "./instructions.ts";
import type { Plan } from "./plan.ts";

export interface AlwaysCover {
  readonly entries: readonly AllowEntry[];
  /** For people: what would be covered, or why this cannot be remembered. */
  readonly note: string;
}

export function alwaysCovers(plan: Plan): AlwaysCover {
  if (plan.form === "shell") return nothing("this line needs a shell; only plain pipelines can always be allowed");
  const blocked = plan.segments.map((segment) => whyNotAlways(segment, plan)).find((why) => why !== undefined);
  if (blocked !== undefined) return nothing(blocked);
  const entries = plan.segments.map((segment): AllowEntry => {
    const judged = judgedOf(segment);
    const { path, argv } = judged;
    return { pattern: literalPattern(path), args: argv.slice(1), cwd: plan.cwd.real, ...programHash(judged) };
  });
  const shown = plan.segments.map((segment) =>
    judgedOf(segment)
      .argv.map((word) => JSON.stringify(word))
      .join(" "),
  );
  return { entries, note: `exactly ${shown.join(" | ")} in ${plan.cwd.real}, for agent ${plan.agent}` };
}

const nothing = (note: string): AlwaysCover => ({ entries: [], note });
