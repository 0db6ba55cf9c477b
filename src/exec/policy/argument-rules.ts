// Programs whose arguments can carry a command or code: what each may be given, by family. Everything else is free.
import { basename } from "node:path";

import type { Concern, Judged, Place } from "./analysis.ts";
import { awkRule } from "./argument-rules/awk.ts";
import { closedRules } from "./argument-rules/closed.ts";
import { findRule } from "./argument-rules/find.ts";
import { forbiddenRules } from "./argument-rules/forbidden.ts";
import { gitRule, gitUserRule, gitUsers } from "./argument-rules/git.ts";
import { interpreterRules, makefiles } from "./argument-rules/interpreters.ts";
import { familyNames } from "./argument-rules/names.ts";
import { carriesShell } from "./argument-rules/nested.ts";
import { neverByAllowlist } from "./argument-rules/never.ts";
import type { Finding, Rule } from "./argument-rules/rule.ts";
import { sedRule } from "./argument-rules/sed.ts";
import { tarRule } from "./argument-rules/tar.ts";
import { followsFiles } from "./instructions.ts";
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

/** By the name it was found under and by the name of the file behind it: a link hides nothing. */
export function concernOf(judged: Judged, place: Place): ArgumentVerdict {
  const names = [...new Set([...familyNames(judged.path), ...realNames(judged)])];
  const args = judged.argv.slice(1);
  // A wrapper that could be taken off is gone by now; one that is left has arguments nobody can read.
  const never = names.find(
    (name) => neverByAllowlist.has(name) || (wrappers.has(name) && !onlyPrints(name, judged.argv.length)),
  );
  if (never !== undefined) return neverVerdict(never, args);
  const rules = names.flatMap((name) => rulesFor(name));
  const findings: Finding[] =
    rules.length > 0
      ? [...new Set(rules)].map((rule) => rule(args, judged, place))
      : [carriesShell(names, args, place)];
  const scripts = [
    ...findings.flatMap((finding) => finding.scripts ?? []),
    ...(names.includes("make") ? makefiles(args, place) : []),
  ];
  const why = findings.find((finding) => finding.concern !== undefined)?.concern;
  return why === undefined ? { scripts } : { concern: { code: "exec.arguments", reason: why }, scripts };
}

/** One binary for all of coreutils is told by the name it is called under, which we set. */
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

/** The program that does the work in a segment of a plan, and its own arguments. */
export function judgedOf(segment: Segment): Judged {
  const program = segment.inner?.at(-1) ?? segment.program;
  const at = segment.inner === undefined ? 0 : segment.argv.indexOf(program.path);
  const argv = segment.argv.slice(at);
  return { written: argv[0] ?? "", path: program.path, real: program.real, argv };
}

/** Why a segment may not be allowed for good; undefined when it may. */
export function neverAlways(segment: Segment, plan: Plan): string | undefined {
  const judged = judgedOf(segment);
  const place = { cwd: plan.cwd.path, workspace: plan.cwd.path, home: "/", path: plan.path };
  const { concern, scripts } = concernOf(judged, place);
  return concern === undefined ? followsFiles(judged, scripts) : concern.reason;
}
