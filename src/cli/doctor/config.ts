// Is the config valid; older keys are moved and unknown ones taken out by --fix, each by name, with the old version kept.
import type { Edit } from "../../config/edit.ts";
import { findLegacyKeys } from "../../config/legacy.ts";
import { formatPath, hasAt, parsePath } from "../../config/path.ts";
import type { ConfigIssue } from "../../config/issue.ts";
import { nearestKey } from "../config-keys.ts";
import { shortPath } from "../print.ts";
import { describe } from "../settings.ts";
import { ok, type Check, type Finding, type Patient } from "./check.ts";
import { rewriteConfig } from "./rewrite.ts";

export const config: Check = {
  name: "Config",
  needsConfig: false,
  look(patient) {
    const { io, loaded } = patient;
    const place = shortPath(loaded.path, io);
    if (!loaded.exists)
      return [
        {
          level: "note",
          message: `${place} is not there; the defaults hold`,
          hint: "openclaw gateway run --setup writes a first one",
        },
      ];
    const warnings = loaded.warnings.map((issue): Finding => ({ level: "warn", message: describe(issue, io) }));
    if (loaded.valid) return [ok(`${place} is valid`), ...warnings];
    return [...loaded.issues.map((issue) => toFinding(issue, patient)), ...warnings];
  },
};

function toFinding(issue: ConfigIssue, patient: Patient): Finding {
  const { io } = patient;
  const { hint, ...bare } = issue;
  const mend = repairOf(issue, patient);
  return {
    level: "fail",
    message: describe(bare, io),
    hint: hint ?? "openclaw config schema shows what each key takes",
    ...(mend === undefined ? {} : { repair: { does: mend.does, apply: () => rewriteConfig(io, mend.edits) } }),
  };
}

interface Mend {
  readonly does: string;
  readonly edits: readonly Edit[];
}

function repairOf({ path }: ConfigIssue, { loaded }: Patient): Mend | undefined {
  const legacy = findLegacyKeys(loaded.parsed).find((key) => formatPath(key.path) === path);
  if (legacy !== undefined)
    return legacy.edits.length === 0
      ? undefined
      : { does: `move ${path} to ${targetsOf(legacy.edits)}`, edits: legacy.edits };
  if (!isUnknownKey(path, loaded.parsed)) return undefined;
  return {
    does: `take out ${path}, which nothing reads (the old file is kept as .bak)`,
    edits: [{ path, remove: true }],
  };
}

function targetsOf(edits: readonly Edit[]): string {
  return edits
    .flatMap((edit) =>
      edit.remove === true ? [] : [typeof edit.path === "string" ? edit.path : formatPath(edit.path)],
    )
    .join(", ");
}

function isUnknownKey(path: string, parsed: unknown): boolean {
  return path !== "(root)" && nearestKey(path).kind !== "exact" && hasAt(parsed, parsePath(path));
}
