// Config paths as people write them, and small edits of a config value along such paths.
import type { Edit } from "./shape.ts";
import { jsonText } from "./wording.ts";

type Segment = string | number;

/** The path of a key or item below another: `tools.deny`, `agents.list[1]`, `tools.byProvider["openai/gpt-5.2"]`. */
export function under(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `${path}.${key}` : `${path}[${jsonText(key)}]`;
}

function parsePath(path: string): Segment[] {
  const part = /\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;
  return [...path.matchAll(part)].map(([, name, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return name ?? (JSON.parse(quoted ?? '""') as string);
  });
}

export function valueAt(root: unknown, path: string): unknown {
  return parsePath(path).reduce<unknown>((value, segment) => ownValue(value, segment), root);
}

/** A copy with the edits made in order; the original and all untouched parts stay shared. */
export function applyEdits<T extends object>(config: T, edits: readonly Edit[]): T {
  return edits.reduce<unknown>((value, edit) => change(value, parsePath(edit.path), edit), config) as T;
}

function change(value: unknown, [head, ...rest]: readonly Segment[], edit: Edit): unknown {
  if (head === undefined) return edited(value, edit);
  const inner = change(ownValue(value, head), rest, edit);
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === head ? inner : item));
  const entries = Object.entries(isObject(value) ? value : {}).filter(([key]) => key !== head);
  const at = Object.keys(isObject(value) ? value : {}).indexOf(String(head));
  if (inner !== undefined) entries.splice(at === -1 ? entries.length : at, 0, [String(head), inner]);
  return Object.fromEntries(entries);
}

/** What one edit makes of the value at its path; undefined takes the key away. */
export function edited(value: unknown, { op, value: entry }: Edit): unknown {
  if (op === "set") return entry;
  if (entry === undefined) return undefined;
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  return op === "add" ? [...list, entry] : list.filter((item) => item !== entry);
}

export function ownValue(value: unknown, key: Segment): unknown {
  if (!isObject(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Readonly<Record<Segment, unknown>>)[key] : undefined;
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
