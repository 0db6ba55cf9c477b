// Is the config valid; older keys are moved and unknown ones taken out by --fix, each by name, with the old version kept.
import { editText } from "../../config/edit.ts";
import type { ConfigIssue } from "../../config/issue.ts";
import { migrateText } from "../../config/migrate.ts";
import { notBuiltKeys } from "../../config/not-built.ts";
import { hasAt, parsePath } from "../../config/path.ts";
import { nearestKey } from "../config-keys.ts";
import { shortPath } from "../print.ts";
import { describe } from "../settings.ts";
import { ok, type Check, type Finding, type Patient, type Repair } from "./check.ts";
import { rewriteConfig } from "./rewrite.ts";

export const config: Check = {
  name: "Config",
  needsConfig: false,
  look(patient) {
    const { io, loaded } = patient;
    const place = shortPath(loaded.path, io);
    if (!loaded.exists) {
      return [
        {
          level: "note",
          message: `${place} is not there; the defaults hold`,
          hint: "openclaw gateway run --setup writes a first one",
        },
      ];
    }
    const warnings = loaded.warnings.map((issue): Finding => ({ level: "warn", message: describe(issue, io) }));
    if (loaded.valid) return [ok(`${place} is valid`), ...warnings, ...withoutEffect(loaded.parsed)];
    return [...loaded.issues.map((issue) => toFinding(issue, patient)), ...warnings];
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

function toFinding(issue: ConfigIssue, patient: Patient): Finding {
  const { hint = "openclaw config schema shows what each key takes", ...bare } = issue;
  const repair = repairOf(issue, patient);
  return { level: "fail", message: describe(bare, patient.io), hint, ...(repair === undefined ? {} : { repair }) };
}

function repairOf(issue: ConfigIssue, { io, loaded }: Patient): Repair | undefined {
  const { path } = issue;
  if (loaded.legacyIssues.includes(issue)) {
    // One repair moves all of them, so only the first is offered; keys a person must judge are left where they are.
    const { moved } = migrateText(loaded.raw);
    if (moved.length === 0 || issue !== loaded.legacyIssues[0]) return undefined;
    return {
      does: `move ${moved.join(", ")} to the new places`,
      apply: () => rewriteConfig(io, (text) => migrateText(text).text),
    };
  }
  if (!isUnknownKey(path, loaded.parsed)) return undefined;
  return {
    does: `take out ${path}, which nothing reads (the old file is kept as .bak)`,
    apply: () => rewriteConfig(io, (text) => editText(text, [{ path, remove: true }])),
  };
}

function isUnknownKey(path: string, parsed: unknown): boolean {
  return path !== "(root)" && nearestKey(path).kind !== "exact" && hasAt(parsed, parsePath(path));
}
