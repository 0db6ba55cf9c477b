// Whether the config is valid. --fix moves older keys and removes unknown ones, and keeps the old file.
import { changeConfig, editConfig } from "../../config/change.ts";
import { describeIssue, type ConfigIssue } from "../../config/issue.ts";
import { migrateText } from "../../config/migrate.ts";
import { notBuiltKeys } from "../../config/not-built.ts";
import { hasAt, parsePath } from "../../config/path.ts";
import { nearestKey } from "../../config/nearest-key.ts";
import { ok, shortPath, type Check, type Finding, type CheckContext } from "./check.ts";
import type { Repair } from "../repair.ts";

export const config: Check = {
  name: "Config",
  needsConfig: false,
  run(context) {
    const { loaded, paths } = context;
    const place = shortPath(loaded.path, { paths });
    if (!loaded.exists) {
      return [
        {
          level: "note",
          message: `${place} does not exist; the defaults apply`,
          hint: "openclaw gateway run --setup writes a first one",
        },
      ];
    }
    const warnings = loaded.warnings.map((issue): Finding => ({
      level: "warn",
      message: describeIssue(issue, paths.home),
    }));
    if (loaded.valid) return [ok(`${place} is valid`), ...warnings, ...withoutEffect(loaded.parsed)];
    return [...loaded.issues.map((issue) => toFinding(issue, context)), ...warnings];
  },
};

function withoutEffect(parsed: unknown): Finding[] {
  const keys = notBuiltKeys(parsed);
  if (keys.length === 0) return [];
  return [
    {
      level: "note",
      message: `accepted without effect, because these parts are not built yet: ${keys.join(", ")}`,
      hint: "keep them for a later version, or remove each with: openclaw config unset <key>",
    },
  ];
}

function toFinding(issue: ConfigIssue, context: CheckContext): Finding {
  const { hint = "openclaw config schema shows the values of each key", ...bare } = issue;
  const repair = repairOf(issue, context);
  return {
    level: "fail",
    message: describeIssue(bare, context.paths.home),
    hint,
    ...(repair === undefined ? {} : { repair }),
  };
}

function repairOf(issue: ConfigIssue, { paths, env, loaded }: CheckContext): Repair | undefined {
  const { path } = issue;
  if (loaded.legacyIssues.includes(issue)) {
    // One repair moves all of them, so only the first finding offers it.
    const { moved } = migrateText(loaded.raw);
    if (moved.length === 0 || issue !== loaded.legacyIssues[0]) return undefined;
    return {
      does: `move ${moved.join(", ")} to the new keys`,
      apply: () => void changeConfig({ paths, env }, ({ raw }) => migrateText(raw).text, { stepwise: true }),
    };
  }
  if (!isUnknownKey(path, loaded.parsed)) return undefined;
  return {
    does: `remove the unknown key ${path} (the old file is kept as .bak)`,
    apply: () => void editConfig({ paths, env }, () => [{ path, remove: true }], { stepwise: true }),
  };
}

function isUnknownKey(path: string, parsed: unknown): boolean {
  return path !== "(root)" && nearestKey(path).kind !== "exact" && hasAt(parsed, parsePath(path));
}
