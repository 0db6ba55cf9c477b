// Config paths, and small edits of tool lists along them.
import { formatPath, getAt, parsePath, setAt, unsetAt } from "../../config/path.ts";
import type { Edit } from "./shape.ts";
import { visible } from "./safe-text.ts";

/** The path of a key below another path: `tools.deny`, `tools.byProvider["openai/gpt-5.2"]`. */
export function under(path: string, key: string): string {
  const written = visible(formatPath([key]));
  return written.startsWith("[") ? `${path}${written}` : `${path}.${written}`;
}

/** A copy of the config with the edits applied in order. */
export function applyEdits<T extends object>(config: T, edits: readonly Edit[]): T {
  return edits.reduce<unknown>((changed, edit) => {
    const path = parsePath(edit.path);
    const value = edited(getAt(changed, path), edit);
    return value === undefined ? unsetAt(changed, path) : setAt(changed, path, value);
  }, config) as T;
}

/** The value at a path after one edit; undefined removes the key. */
export function edited(value: unknown, { op, value: entry }: Edit): unknown {
  if (op === "set") return entry;
  if (entry === undefined) return undefined;
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  return op === "add" ? [...list, entry] : list.filter((item) => item !== entry);
}
