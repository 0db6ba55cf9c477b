// Detects when a model repeats the same call with the same arguments.
import { REPEAT_STOP, REPEAT_WARN } from "./limits.ts";

export type RepeatVerdict = "fine" | "warn" | "stop";

/** The order of keys does not matter; another call in between resets the count. */
export function createRepeatWatch(): (name: string, args: unknown) => RepeatVerdict {
  let last = "";
  let count = 0;
  return (name, args) => {
    const mark = `${name} ${stable(args)}`;
    count = mark === last ? count + 1 : 1;
    last = mark;
    if (count >= REPEAT_STOP) return "stop";
    return count >= REPEAT_WARN ? "warn" : "fine";
  };
}

function stable(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  if (Array.isArray(value)) return `[${value.map((item) => stable(item)).join(",")}]`;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${stable(item)}`).join(",")}}`;
}
