// An approvals file as it is edited: what it says, what an agent inherits, and a list of changes that can be laid over it.
import { OpenClawError } from "../../../src/core/error.ts";
import { isRecord } from "../../../src/core/record.ts";

export const levels = {
  security: ["deny", "allowlist", "full"],
  ask: ["off", "on-miss", "always"],
  askFallback: ["deny", "allowlist", "full"],
} as const;
export type Level = keyof typeof levels;
export type RuleKey = Level | "autoAllowSkills";

/** What holds where the file says nothing. */
const presets: Readonly<Record<RuleKey, string>> = {
  security: "allowlist",
  ask: "on-miss",
  askFallback: "deny",
  autoAllowSkills: "no",
};

/** The defaults; any other scope is the id of an agent, `*` for all of them. */
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
  /** Everything else in it, sent back as it came. */
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

/** Reads what a gateway or a node answered. A node is another machine: what it says is looked at. */
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

/** The file as it goes over the wire. */
export function toWire({ rest, defaults: shared, agents }: RulesFile): Record<string, unknown> {
  return { ...rest, version: 1, defaults: shared, agents };
}

/** Edits that no longer fit, such as removing what is gone, change nothing. */
export function applyEdits(file: RulesFile, edits: readonly RuleEdit[]): RulesFile {
  return edits.reduce(applyEdit, file);
}

/** One more edit; what it makes needless goes. */
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

/** Those of the edits that change something. */
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

/** What holds for a scope that says nothing itself, and who says so. */
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
  return { value: presets[key], from: "built in" };
}

export function entriesOf(file: RulesFile, scope: string): readonly AllowEntry[] {
  const list = rulesOf(file, scope)["allowlist"];
  return Array.isArray(list) ? list.flatMap(toEntry) : [];
}

/** Agents of the config, and those the file knows besides; `*` first. */
export function scopesOf(file: RulesFile, agentIds: readonly string[]): readonly string[] {
  const others = Object.keys(file.agents).filter((id) => id !== "*" && !agentIds.includes(id));
  return ["*", ...agentIds, ...others.toSorted()];
}

/** What is wrong with a new entry. */
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

/** What is of another kind than it should be is not shown; the entry itself goes back as it came. */
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

/** By what it covers: when it was last used changes while somebody looks at it. */
function isSameEntry(one: AllowEntry, other: AllowEntry): boolean {
  if (one.id !== undefined && other.id !== undefined) return one.id === other.id;
  return coverOf(one) === coverOf(other);
}

const coverOf = ({ pattern, argPattern, args, cwd }: AllowEntry): string =>
  JSON.stringify([pattern, argPattern ?? null, args ?? null, cwd ?? null]);
