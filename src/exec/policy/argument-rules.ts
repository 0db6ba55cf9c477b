// Judges whether the arguments of a program carry a command or code: by the rules of its family of programs, else by a search
// for a nested command. Programs that start others are refused with any arguments.
import { basename } from "node:path";

import type { Concern, Judged, AnalysisContext } from "./analysis.ts";
import { awkRule } from "./argument-rules/awk.ts";
import { closedRules } from "./argument-rules/closed.ts";
import { findRule } from "./argument-rules/find.ts";
import { forbiddenRules } from "./argument-rules/forbidden.ts";
import { gitRule, gitUserRule, gitUsers } from "./argument-rules/git.ts";
import { interpreterRules, makefiles } from "./argument-rules/interpreters.ts";
import { familyNames } from "./argument-rules/names.ts";
import { findNestedCommand } from "./argument-rules/nested.ts";
import { neverByAllowlist } from "./argument-rules/never.ts";
import type { Finding, Rule } from "./argument-rules/rule.ts";
import { sedRule } from "./argument-rules/sed.ts";
import { tarRule } from "./argument-rules/tar.ts";
import { whyFilesDecide } from "./instructions.ts";
import type { Plan, Segment } from "./plan.ts";
import { onlyPrints, wrappers } from "./wrappers.ts";

export interface ArgumentVerdict {
  readonly concern?: Concern;
  readonly scripts: readonly string[];
}

const ownRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["awk", awkRule],
  ["find", findRule],
  ["git", gitRule],
  ["sed", sedRule],
  ["tar", tarRule],
  ...gitUsers.map((name): [string, Rule] => [name, gitUserRule]),
]);

/** Checks the name it was found by and the name of the real file, so that a link cannot hide a program. */
export function concernOf(judged: Judged, context: AnalysisContext): ArgumentVerdict {
  const names = [...new Set([...familyNames(judged.path), ...realNames(judged)])];
  const args = judged.argv.slice(1);
  // Known wrappers were removed before. One that is left has arguments that cannot be read.
  const never = names.find(
    (name) => neverByAllowlist.has(name) || (wrappers.has(name) && !onlyPrints(name, judged.argv.length)),
  );
  if (never !== undefined) return neverVerdict(never, args);
  const rules = names.flatMap((name) => rulesFor(name));
  const findings: Finding[] =
    rules.length > 0
      ? [...new Set(rules)].map((rule) => rule(args, judged, context))
      : [findNestedCommand(names, args, context)];
  const scripts = [
    ...findings.flatMap((finding) => finding.scripts ?? []),
    ...(names.includes("make") ? makefiles(args, context) : []),
  ];
  const why = findings.find((finding) => finding.concern !== undefined)?.concern;
  return why === undefined ? { scripts } : { concern: { code: "exec.arguments", reason: why }, scripts };
}

/** A single binary for all of coreutils is identified by the name it is called by, which we set. */
function realNames({ path, real }: Judged): readonly string[] {
  const names = familyNames(real);
  return names.includes("coreutils") && basename(path) !== "coreutils" ? [] : names;
}

function neverVerdict(name: string, args: readonly string[]): ArgumentVerdict {
  const { group, reason } = neverByAllowlist.get(name) ?? { group: "starter", reason: "starts other programs" };
  if (args.length === 1 && args[0] === "--version" && group !== "gateway") return { scripts: [] };
  const code = group === "gateway" ? "exec.own-cli" : "exec.carrier";
  return { concern: { code, reason: `${name} ${reason}, which no allowlist entry can cover` }, scripts: [] };
}

function rulesFor(name: string): readonly Rule[] {
  return [ownRules, closedRules, forbiddenRules, interpreterRules].flatMap((rules) => rules.get(name) ?? []);
}

/** The program that does the work in a segment of a plan, with its own arguments. */
export function judgedOf(segment: Segment): Judged {
  const program = segment.inner?.at(-1) ?? segment.program;
  const at = segment.inner === undefined ? 0 : segment.argv.indexOf(program.path);
  const argv = segment.argv.slice(at);
  return { written: argv[0] ?? "", path: program.path, real: program.real, argv };
}

/** Why a segment cannot always be allowed; undefined when it can. */
export function whyNotAlways(segment: Segment, plan: Plan): string | undefined {
  const judged = judgedOf(segment);
  const context = { cwd: plan.cwd.path, workspace: plan.cwd.path, home: "/", path: plan.path };
  const { concern, scripts } = concernOf(judged, context);
  return concern === undefined ? whyFilesDecide(judged, scripts) : concern.reason;
}
