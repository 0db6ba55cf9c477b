// Moves legacy keys to their new paths in the text itself, for `openclaw doctor --fix`.
import { isRecord } from "../core/record.ts";
import JSON5 from "json5";

import { editText, type Edit } from "./edit.ts";
import { findLegacyKeys } from "./legacy.ts";
import { formatPath, getAt, type ConfigPath } from "./path.ts";

export interface Migration {
  readonly text: string;
  readonly moved: readonly string[];
  /** Keys that a person has to move, with their new path. */
  readonly left: readonly { readonly path: string; readonly message: string }[];
}

/** Overwrites and loses nothing: a key that cannot be moved stays and is listed. The text must be JSON5. */
export function migrateText(text: string): Migration {
  const moved: string[] = [];
  let current = text;
  for (;;) {
    const found = findLegacyKeys(JSON5.parse(current));
    const next = found.find(({ edits }) => edits.length > 0);
    if (next === undefined)
      return { text: current, moved, left: found.map(({ path, message }) => ({ path: formatPath(path), message })) };
    current = dropEmptyParents(editText(current, next.edits), next.path);
    moved.push(formatPath(next.path));
  }
}

/** Removes a section that is empty after its last key was moved. */
function dropEmptyParents(text: string, path: ConfigPath): string {
  const parent = path.slice(0, -1);
  const value = getAt(JSON5.parse(text), parent);
  const isEmpty = parent.length > 0 && isRecord(value) && Object.keys(value).length === 0;
  if (!isEmpty) return text;
  const edit: Edit = { path: parent, remove: true };
  return dropEmptyParents(editText(text, [edit]), parent);
}
