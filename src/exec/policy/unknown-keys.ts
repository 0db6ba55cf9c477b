// Keys of the approvals file that mean nothing here: kept as they are, but one of ours misspelt would loosen a rule in silence.
import { nearest } from "../../core/nearest.ts";
import { approvalsKeys } from "../../protocol/methods/approvals.ts";
import type { ApprovalsFile } from "./file.ts";

export interface UnknownKey {
  /** Such as `agents.main.allowlist[0].note`. */
  readonly path: string;
  /** The key it looks like, where that one is a rule. */
  readonly meant?: string;
}

/** Those that only tell are left out: nothing depends on how they are written. */
const ruling: ReadonlySet<string> = new Set([
  "defaults",
  "agents",
  ...approvalsKeys.rules,
  "pattern",
  "argPattern",
  "args",
  "cwd",
]);

export function unknownKeys(file: ApprovalsFile): readonly UnknownKey[] {
  const { defaults = {}, agents = {} } = file;
  return [
    ...strange(file, "", approvalsKeys.file),
    ...strange(defaults, "defaults.", approvalsKeys.rules),
    ...Object.entries(agents).flatMap(([id, rules]) => [
      ...strange(rules, `agents.${id}.`, approvalsKeys.rules),
      ...(rules.allowlist ?? []).flatMap((entry, index) =>
        strange(entry, `agents.${id}.allowlist[${index}].`, approvalsKeys.entry),
      ),
    ]),
  ];
}

function strange(value: object, where: string, known: readonly string[]): UnknownKey[] {
  const rules = known.filter((key) => ruling.has(key));
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const meant = nearest(key, rules);
      return { path: `${where}${key}`, ...(meant === undefined ? {} : { meant }) };
    });
}
