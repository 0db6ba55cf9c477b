// Config paths: `agents.list[0].tools.exec.node`, `channels.telegram.groups["-100.5"]`; get, set and unset on plain values.
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";

export type Segment = string | number;
export type ConfigPath = readonly Segment[];

/** Throws `config.bad-path`. The empty path is not valid; code that means the root passes `[]`. */
export function parsePath(written: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  while (at < written.length) {
    const rest = written.slice(at);
    const match = at === 0 ? (bracket.exec(rest) ?? word.exec(rest)) : (bracket.exec(rest) ?? dotted.exec(rest));
    if (match === null) throw badPath(written, `at character ${at + 1}`);
    segments.push(segmentOf(match, written));
    at += match[0].length;
  }
  if (segments.length === 0) throw badPath(written, "it is empty");
  return segments;
}

/** The spelling that `parsePath` parses to the same segments. */
export function formatPath(path: ConfigPath): string {
  return path.reduce<string>((written, segment) => {
    if (typeof segment === "number") return `${written}[${segment}]`;
    if (!plainWord.test(segment)) return `${written}[${JSON.stringify(segment)}]`;
    return written === "" ? segment : `${written}.${segment}`;
  }, "");
}

/** Own properties only; undefined when a segment is missing. */
export function getAt(root: unknown, path: ConfigPath): unknown {
  let value = root;
  for (const segment of path) {
    if (!hasOwn(value, segment)) return undefined;
    value = (value as Record<Segment, unknown>)[segment];
  }
  return value;
}

export function hasAt(root: unknown, path: ConfigPath): boolean {
  const last = path.at(-1);
  return last === undefined ? root !== undefined : hasOwn(getAt(root, path.slice(0, -1)), last);
}

/** A copy with the value at the path; creates missing parents, rejects a parent that is not a container. */
export function setAt(root: unknown, path: ConfigPath, value: unknown): unknown {
  return setFrom(root, path, 0, value);
}

/** A copy without the value at the path; the same value when there is none. */
export function unsetAt(root: unknown, path: ConfigPath): unknown {
  const [segment, ...rest] = path;
  if (segment === undefined || !hasOwn(root, segment)) return root;
  if (rest.length > 0) return withChild(root, segment, unsetAt(getAt(root, [segment]), rest));
  if (Array.isArray(root)) return root.filter((_, index) => index !== segment);
  return Object.fromEntries(Object.entries(root as object).filter(([key]) => key !== segment));
}

/** Rejects an impossible step: a key in an array, an index past the end, any step into a scalar. */
export function checkStep(parent: unknown, path: ConfigPath, depth: number): void {
  const problem = stepProblem(parent, path[depth], formatPath(path.slice(0, depth)) || "the config");
  if (problem !== undefined) throw badPath(formatPath(path), problem);
}

/** Keys that no config may have, because they affect object prototypes. */
export const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

function setFrom(parent: unknown, path: ConfigPath, depth: number, value: unknown): unknown {
  const segment = path[depth];
  if (segment === undefined) return value;
  checkStep(parent, path, depth);
  const holder = parent ?? (typeof segment === "number" ? [] : {});
  return withChild(holder, segment, setFrom(getAt(holder, [segment]), path, depth + 1, value));
}

function withChild(parent: unknown, segment: Segment, child: unknown): unknown {
  if (!Array.isArray(parent)) return { ...(parent as object), [segment]: child };
  const copy = [...parent];
  copy[Number(segment)] = child;
  return copy;
}

function hasOwn(value: unknown, segment: Segment): boolean {
  if (Array.isArray(value)) return typeof segment === "number" && segment >= 0 && segment < value.length;
  return isRecord(value) && typeof segment === "string" && Object.hasOwn(value, segment);
}

function stepProblem(parent: unknown, segment: Segment | undefined, where: string): string | undefined {
  if (typeof segment === "string" && forbiddenKeys.has(segment)) return `${segment} is not a config key`;
  if (parent === undefined) return typeof segment === "string" || segment === 0 ? undefined : `${where} is empty`;
  if (isRecord(parent)) return typeof segment === "string" ? undefined : `${where} is an object and takes a key`;
  if (!Array.isArray(parent)) return `${where} is ${kindOf(parent)}, not an object or array`;
  if (typeof segment !== "number") return `${where} is an array and takes an index`;
  return segment > parent.length ? `${where} has only ${parent.length} entries` : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "string" ? "a text" : `a ${typeof value}`;
}

const word = /^([^.[\]"'\s]+)/u;
const dotted = /^\.([^.[\]"'\s]+)/u;
const bracket = /^\[\s*(?:(\d+)|("(?:[^"\\]|\\.)*")|'((?:[^'\\]|\\.)*)'|([^\]"'[]+))\s*\]/u;
const plainWord = /^[^.[\]"'\s]+$/u;

function segmentOf(match: RegExpExecArray, written: string): Segment {
  if (!match[0].startsWith("[")) return checkedKey(match[1] ?? "", written);
  if (match[1] !== undefined) return Number(match[1]);
  if (match[2] !== undefined) return checkedKey(unquote(match[2], written), written);
  if (match[3] !== undefined) return checkedKey(match[3].replaceAll(/\\(.)/gu, "$1"), written);
  return checkedKey((match[4] ?? "").trim(), written);
}

function unquote(quoted: string, written: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch (cause) {
    throw badPath(written, `${quoted} is not a quoted key`, cause);
  }
}

function checkedKey(key: string, written: string): string {
  if (forbiddenKeys.has(key)) throw badPath(written, `${key} is not a config key`);
  return key;
}

function badPath(written: string, why: string, cause?: unknown): OpenClawError {
  return new OpenClawError("config.bad-path", `not a config path: ${JSON.stringify(written.slice(0, 200))}: ${why}`, {
    hint: "write it like agents.list[0].tools.exec.node",
    cause,
  });
}
