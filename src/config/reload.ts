// Plans what a changed config requires: nothing, a restart of parts, or a restart of the gateway.
import { isDeepStrictEqual } from "node:util";

import { isRecord } from "../core/record.ts";
import { formatPath, type ConfigPath } from "./path.ts";
import type { Config } from "./schema/index.ts";

export type ReloadMode = "hybrid" | "hot" | "restart" | "off";

export interface ReloadPlan {
  /** Changed paths that take effect in the running gateway. */
  readonly hot: readonly string[];
  /** Changed paths that need a restart, which should happen now. */
  readonly restart: readonly string[];
  /** Changed paths that take effect only after a restart. */
  readonly ignored: readonly string[];
  /** Parts to restart for the hot ones: `hooks`, `gmail`, `browser`, `cron`, `heartbeat`, `channel:<id>`. */
  readonly parts: readonly string[];
}

/** Pure. Every changed path is in exactly one list. */
export function planReload(before: Config, after: Config, mode: ReloadMode): ReloadPlan {
  const changed = changedPaths(before, after, []).map((path) => ({ name: formatPath(path), needs: needOf(path) }));
  const names = (wanted: boolean): string[] =>
    changed.flatMap(({ name, needs }) => ((needs === "restart") === wanted ? [name] : []));
  const all = changed.map(({ name }) => name);
  const parts = [
    ...new Set(changed.flatMap(({ needs }) => (needs === "restart" || needs === "nothing" ? [] : [needs]))),
  ];
  switch (mode) {
    case "hybrid":
      return { hot: names(false), restart: names(true), ignored: [], parts };
    case "hot":
      return { hot: names(false), restart: [], ignored: names(true), parts };
    case "restart":
      return { hot: [], restart: all, ignored: [], parts: [] };
    case "off":
      return { hot: [], restart: [], ignored: all, parts: [] };
  }
}

/** The first rule that matches the start decides; a path without a rule needs a restart. `*` matches one segment. */
function needOf(path: ConfigPath): string {
  const rule = rules.find(
    ([start]) =>
      start.every((segment, index) => segment === "*" || segment === path[index]) && start.length <= path.length,
  );
  return rule?.[1] ?? "restart";
}

const rules: readonly (readonly [start: ConfigPath, needs: string])[] = [
  [["hooks", "gmail"], "gmail"],
  [["hooks"], "hooks"],
  [["browser"], "browser"],
  [["cron"], "cron"],
  [["agents", "defaults", "heartbeat"], "heartbeat"],
  [["agents", "list", "*", "heartbeat"], "heartbeat"],
  [["web"], "channel:whatsapp"],
  ...["telegram", "discord", "signal", "imessage"].map((id) => [["channels", id], `channel:${id}`] as const),
  [["channels", "whatsapp"], "nothing"],
  [["gateway", "reload"], "nothing"],
  [["gateway", "remote"], "nothing"],
  // Read at each use, because the tool rules are part of every decision.
  ...[
    "agents",
    "models",
    "auth",
    "bindings",
    "broadcast",
    "messages",
    "session",
    "logging",
    "skills",
    "ui",
    "talk",
    "tools",
    "mcp",
    "approvals",
    "wizard",
    "meta",
    "$schema",
  ].map((key) => [[key], "nothing"] as const),
];

/** Down to single values; lists of equal length entry by entry, others as a whole. */
function changedPaths(before: unknown, after: unknown, path: ConfigPath): ConfigPath[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => changedPaths(item, after[index], [...path, index]));
  }
  if (!isRecord(before) || !isRecord(after)) return [path];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changedPaths(before[key], after[key], [...path, key]));
}
