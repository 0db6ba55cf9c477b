// Finds where two JSON values begin to differ, with the path and the text around it.
import { isRecord } from "../core/record.ts";

export interface Mismatch {
  /** `messages[4].content[0].text`; empty for the whole. */
  readonly path: string;
  readonly recorded: string;
  readonly now: string;
}

/** Undefined when they would be the same bytes as JSON. */
export function firstMismatch(recorded: unknown, now: unknown): Mismatch | undefined {
  const [before, after] = [JSON.stringify(recorded), JSON.stringify(now)];
  if (before === after) return undefined;
  return walk(JSON.parse(before ?? "null"), JSON.parse(after ?? "null"), "") ?? around("", before ?? "", after ?? "");
}

function walk(recorded: unknown, now: unknown, path: string): Mismatch | undefined {
  if (Array.isArray(recorded) && Array.isArray(now)) return walkLists(recorded, now, path);
  if (isRecord(recorded) && isRecord(now)) return walkRecords(recorded, now, path);
  if (Object.is(recorded, now)) return undefined;
  if (typeof recorded === "string" && typeof now === "string") return around(path, recorded, now);
  return { path, recorded: shortened(recorded), now: shortened(now) };
}

function walkLists(recorded: readonly unknown[], now: readonly unknown[], path: string): Mismatch | undefined {
  for (let at = 0; at < Math.max(recorded.length, now.length); at++) {
    const here = `${path}[${at}]`;
    if (at >= recorded.length) return { path: here, recorded: "(nothing)", now: shortened(now[at]) };
    if (at >= now.length) return { path: here, recorded: shortened(recorded[at]), now: "(nothing)" };
    const found = walk(recorded[at], now[at], here);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function walkRecords(recorded: Fields, now: Fields, path: string): Mismatch | undefined {
  for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
    const here = path === "" ? name : `${path}.${name}`;
    if (!Object.hasOwn(recorded, name)) return { path: here, recorded: "(nothing)", now: shortened(now[name]) };
    if (!Object.hasOwn(now, name)) return { path: here, recorded: shortened(recorded[name]), now: "(nothing)" };
    const found = walk(recorded[name], now[name], here);
    if (found !== undefined) return found;
  }
  return undefined;
}

const CONTEXT_CHARS = 60;

/** Both texts from a little before the first character that differs. */
function around(path: string, recorded: string, now: string): Mismatch {
  let at = 0;
  while (at < recorded.length && recorded[at] === now[at]) at++;
  const from = Math.max(0, at - CONTEXT_CHARS);
  const part = (text: string): string =>
    `${from > 0 ? "…" : ""}${text.slice(from, at + CONTEXT_CHARS).toWellFormed()}${text.length > at + CONTEXT_CHARS ? "…" : ""}`;
  return { path, recorded: JSON.stringify(part(recorded)), now: JSON.stringify(part(now)) };
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? "(nothing)";
  return text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`;
}
