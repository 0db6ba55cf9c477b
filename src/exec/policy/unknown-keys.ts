// Finds unknown keys in the approvals file: they are kept, but a misspelled rule would silently not apply.
import { nearest } from "../../core/nearest.ts";
import { approvalsKeys, type ApprovalsFile } from "../../protocol/methods/approvals.ts";

export interface UnknownKey {
  /** Such as `agents.main.allowlist[0].note`. */
  readonly path: string;
  /** The rule that it is probably a misspelling of. */
  readonly meant?: string;
}

/** The keys that decide something; the others are only informative. */
const ruleKeys: ReadonlySet<string> = new Set([
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
    ...unknownIn(file, "", approvalsKeys.file),
    ...unknownIn(defaults, "defaults.", approvalsKeys.rules),
    ...Object.entries(agents).flatMap(([id, rules]) => [
      ...unknownIn(rules, `agents.${id}.`, approvalsKeys.rules),
      ...(rules.allowlist ?? []).flatMap((entry, index) =>
        unknownIn(entry, `agents.${id}.allowlist[${index}].`, approvalsKeys.entry),
      ),
    ]),
  ];
}

function unknownIn(value: object, where: string, known: readonly string[]): UnknownKey[] {
  const rules = known.filter((key) => ruleKeys.has(key));
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const meant = nearest(key, rules);
      return { path: `${where}${key}`, ...(meant === undefined ? {} : { meant }) };
    });
}
