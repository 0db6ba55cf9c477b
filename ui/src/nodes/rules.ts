// Reads and edits an approvals file: its rules, what an agent inherits, and a list of edits that can be applied again.
import { OpenClawError } from "../../../src/core/error.ts";
import { isRecord } from "../../../src/core/record.ts";
import type { ApprovalsFile } from "../../../src/protocol/methods/approvals.ts";

export const levels = {
  security: ["deny", "allowlist", "full"],
  ask: ["off", "on-miss", "always"],
  askFallback: ["deny", "allowlist", "full"],
} as const;
export type Level = keyof typeof levels;
export type RuleKey = Level | "autoAllowSkills";

/** Built-in defaults. */
const builtIn: Readonly<Record<RuleKey, string>> = {
  security: "allowlist",
  ask: "on-miss",
  askFallback: "deny",
  autoAllowSkills: "no",
};

/** The scope of the defaults; any other scope is the id of an agent, or `*` for all agents. */
export const defaults = "";

export interface AllowEntry {
  readonly id?: string;
  readonly pattern: string;
  readonly argPattern?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly lastUsedAt?: number;
  readonly lastUsedCommand?: string;
  readonly lastResolvedPath?: string;
}

type Rules = Readonly<Record<string, unknown>>;

export interface RulesFile {
  readonly defaults: Rules;
  readonly agents: Readonly<Record<string, Rules>>;
  /** All other keys, sent back unchanged. */
  readonly rest: Rules;
}

export interface RulesSnapshot {
  readonly path: string;
  readonly hash: string;
  readonly file: RulesFile;
}

export type RuleEdit =
  | {
      readonly kind: "set";
      readonly scope: string;
      readonly key: RuleKey;
      readonly value: string | boolean | undefined;
    }
  | { readonly kind: "add"; readonly scope: string; readonly pattern: string }
  | { readonly kind: "remove"; readonly scope: string; readonly entry: AllowEntry };

/** Validates the answer of a gateway or a node; a node is another machine and may answer anything. */
export function toSnapshot(answer: unknown): RulesSnapshot {
  const { path, hash, file } = isRecord(answer) ? answer : {};
  if (typeof hash !== "string" || !isRecord(file))
    throw new OpenClawError("page.bad-answer", "The answer contains no approvals file.");
  const { defaults: shared, agents, ...rest } = file;
  const entries = isRecord(agents) ? Object.entries(agents) : [];
  return {
    path: typeof path === "string" ? path : "exec-approvals.json",
    hash,
    file: {
      defaults: isRecord(shared) ? shared : {},
      agents: Object.fromEntries(entries.flatMap(([id, rules]) => (isRecord(rules) ? [[id, rules]] : []))),
      rest,
    },
  };
}

/** The file in wire format. */
export function toWire({ rest, defaults: shared, agents }: RulesFile): ApprovalsFile {
  return { ...rest, version: 1, defaults: shared, agents } as ApprovalsFile;
}

/** Edits that no longer apply, such as removing a missing entry, change nothing. */
export function applyEdits(file: RulesFile, edits: readonly RuleEdit[]): RulesFile {
  return edits.reduce(applyEdit, file);
}

/** Adds an edit and drops edits that it makes obsolete. */
export function addEdit(edits: readonly RuleEdit[], next: RuleEdit): readonly RuleEdit[] {
  if (next.kind === "set") {
    const isSameRule = (edit: RuleEdit): boolean =>
      edit.kind === "set" && edit.scope === next.scope && edit.key === next.key;
    return [...edits.filter((edit) => !isSameRule(edit)), next];
  }
  if (next.kind === "add") return [...edits, next];
  const added = edits.findIndex(
    (edit) => edit.kind === "add" && edit.scope === next.scope && isSameEntry({ pattern: edit.pattern }, next.entry),
  );
  return added < 0 ? [...edits, next] : edits.toSpliced(added, 1);
}

/** The edits that change the file. */
export function effective(file: RulesFile, edits: readonly RuleEdit[]): readonly RuleEdit[] {
  return edits.filter((edit) => {
    if (edit.kind === "set") return valueOf(file, edit.scope, edit.key) !== edit.value;
    const isThere = entriesOf(file, edit.scope).some((entry) =>
      isSameEntry(entry, edit.kind === "add" ? { pattern: edit.pattern } : edit.entry),
    );
    return edit.kind === "add" ? !isThere : isThere;
  });
}

export function valueOf(file: RulesFile, scope: string, key: RuleKey): string | boolean | undefined {
  const value = rulesOf(file, scope)[key];
  return typeof value === "string" || typeof value === "boolean" ? value : undefined;
}

/** The inherited value of a rule, and the scope it comes from. */
export function inheritedOf(
  file: RulesFile,
  scope: string,
  key: RuleKey,
): { readonly value: string; readonly from: string } {
  const above = scope === defaults ? [] : scope === "*" ? [defaults] : ["*", defaults];
  for (const place of above) {
    const value = valueOf(file, place, key);
    if (value !== undefined)
      return { value: ruleText(value), from: place === defaults ? "the defaults" : "all agents" };
  }
  return { value: builtIn[key], from: "built in" };
}

export function entriesOf(file: RulesFile, scope: string): readonly AllowEntry[] {
  const list = rulesOf(file, scope)["allowlist"];
  return Array.isArray(list) ? list.flatMap(toEntry) : [];
}

/** `*`, the agents of the config, then other agents that the file names. */
export function scopesOf(file: RulesFile, agentIds: readonly string[]): readonly string[] {
  const others = Object.keys(file.agents).filter((id) => id !== "*" && !agentIds.includes(id));
  return ["*", ...agentIds, ...others.toSorted()];
}

/** The problem with a new entry, if any. */
export function patternIssue(pattern: string, entries: readonly AllowEntry[]): string | undefined {
  if (pattern === "") return "Enter the path of a program, such as /usr/bin/rg.";
  if (!pattern.includes("/"))
    return "Enter a path with a folder: a bare name never matches. Use **/name or the full path.";
  return entries.some((entry) => isSameEntry(entry, { pattern })) ? "Already on the allowlist." : undefined;
}

export const ruleText = (value: string | boolean): string => (typeof value === "string" ? value : value ? "yes" : "no");

function applyEdit(file: RulesFile, edit: RuleEdit): RulesFile {
  const rules = rulesOf(file, edit.scope);
  if (edit.kind === "set") return withRules(file, edit.scope, withKey(rules, edit.key, edit.value));
  const list: readonly unknown[] = Array.isArray(rules["allowlist"]) ? rules["allowlist"] : [];
  if (edit.kind === "add") {
    const isThere = entriesOf(file, edit.scope).some((entry) => isSameEntry(entry, { pattern: edit.pattern }));
    return isThere ? file : withRules(file, edit.scope, { ...rules, allowlist: [...list, { pattern: edit.pattern }] });
  }
  const at = list.findIndex((entry) => toEntry(entry).some((known) => isSameEntry(known, edit.entry)));
  return at < 0 ? file : withRules(file, edit.scope, { ...rules, allowlist: list.toSpliced(at, 1) });
}

function rulesOf({ defaults: shared, agents }: RulesFile, scope: string): Rules {
  if (scope === defaults) return shared;
  return (Object.hasOwn(agents, scope) ? agents[scope] : undefined) ?? {};
}

function withRules(file: RulesFile, scope: string, rules: Rules): RulesFile {
  return scope === defaults ? { ...file, defaults: rules } : { ...file, agents: { ...file.agents, [scope]: rules } };
}

function withKey(rules: Rules, key: string, value: unknown): Rules {
  const others = Object.entries(rules).filter(([name]) => name !== key);
  return Object.fromEntries(value === undefined ? others : [...others, [key, value]]);
}

/** Fields of an unexpected type are not shown; the entry is sent back unchanged. */
function toEntry(entry: unknown): AllowEntry[] {
  if (!isRecord(entry) || typeof entry["pattern"] !== "string") return [];
  const texts = ["id", "argPattern", "cwd", "lastUsedCommand", "lastResolvedPath"].flatMap((key) =>
    typeof entry[key] === "string" ? [[key, entry[key]] as const] : [],
  );
  const { args, lastUsedAt } = entry;
  return [
    {
      pattern: entry["pattern"],
      ...Object.fromEntries(texts),
      ...(Array.isArray(args) ? { args: args.map(String) } : {}),
      ...(typeof lastUsedAt === "number" ? { lastUsedAt } : {}),
    },
  ];
}

/** Compares what entries cover, because the time of last use changes while the list is open. */
function isSameEntry(one: AllowEntry, other: AllowEntry): boolean {
  if (one.id !== undefined && other.id !== undefined) return one.id === other.id;
  return coverOf(one) === coverOf(other);
}

const coverOf = ({ pattern, argPattern, args, cwd }: AllowEntry): string =>
  JSON.stringify([pattern, argPattern ?? null, args ?? null, cwd ?? null]);
