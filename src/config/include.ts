// Resolves `$include`: merges other files in order, never from outside the folder of the config.
import { realpathSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";

import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { rootPath, type ConfigIssue } from "./issue.ts";
import { forbiddenKeys, formatPath, type ConfigPath, type Segment } from "./path.ts";
import { parseSource, placeInSource, readBytes, type MountedPart, type Source } from "./source.ts";

export interface Expansion {
  readonly value: unknown;
  readonly issues: readonly ConfigIssue[];
  /** Every file read, in order. */
  readonly files: readonly string[];
}

const maxLevels = 10;
const maxFiles = 100;

/** Resolves all includes. Failed includes are skipped and listed in `issues`. */
export function expandIncludes(main: Source): Expansion {
  const walk: Walk = { folder: dirname(main.file), issues: [], files: [main.file] };
  const value = expand(main.value, [], { source: main, chain: [main.file], prefix: [] }, walk);
  return { value, issues: walk.issues, files: walk.files };
}

interface Walk {
  readonly folder: string;
  readonly issues: ConfigIssue[];
  readonly files: string[];
}

interface Frame {
  readonly source: Source;
  /** The files that led here, ending with this one. */
  readonly chain: readonly string[];
  /** The path of this file's value in the whole config. */
  readonly prefix: ConfigPath;
}

function expand(value: unknown, path: ConfigPath, frame: Frame, walk: Walk): unknown {
  if (Array.isArray(value)) return value.map((item, index) => expand(item, [...path, index], frame, walk));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).flatMap(([key, child]): [string, unknown][] => {
    if (key === "$include") return [];
    if (!forbiddenKeys.has(key)) return [[key, expand(child, [...path, key], frame, walk)]];
    report(walk, frame, [...path, key], `${key} is not a config key`, "remove it");
    return [];
  });
  const siblings = Object.fromEntries(entries);
  if (!Object.hasOwn(value, "$include")) return siblings;
  const included = include(value["$include"], path, frame, walk);
  if (included === undefined) return siblings;
  if (entries.length === 0) return included.value;
  if (isRecord(included.value)) return deepMerge(included.value, siblings);
  report(
    walk,
    frame,
    [...path, "$include"],
    "the included file is not an object, so it cannot be combined with other keys",
  );
  return siblings;
}

/** Undefined after an error, which is reported. */
function include(names: unknown, path: ConfigPath, frame: Frame, walk: Walk): { readonly value: unknown } | undefined {
  const here = [...path, "$include"];
  const list = typeof names === "string" ? [names] : names;
  if (!Array.isArray(list) || list.length === 0 || !list.every((name) => typeof name === "string" && name !== "")) {
    report(walk, frame, here, "must be a file name or a list of file names");
    return undefined;
  }
  const parts: MountedPart[] = [];
  let merged: unknown;
  for (const name of list as string[]) {
    const source = openIncluded(name, here, frame, walk);
    if (source === undefined) return undefined;
    const prefix = [...frame.prefix, ...path];
    const value = expand(source.value, [], { source, chain: [...frame.chain, source.file], prefix }, walk);
    const joins = Array.isArray(merged) && Array.isArray(value);
    parts.push({ source, offset: joins ? (merged as unknown[]).length : 0 });
    if (parts.length === 1) merged = value;
    else if (joins) merged = [...(merged as unknown[]), ...value];
    else merged = deepMerge(merged, value);
  }
  frame.source.mounts.push({ at: path, parts });
  return { value: merged };
}

function openIncluded(name: string, here: ConfigPath, frame: Frame, walk: Walk): Source | undefined {
  const wanted = resolve(dirname(frame.source.file), name);
  const fail = (message: string, hint?: string): undefined => {
    report(walk, frame, here, message, hint);
  };
  if (frame.chain.length > maxLevels) return fail(`includes nest deeper than ${maxLevels} levels at ${wanted}`);
  if (walk.files.length > maxFiles) return fail(`more than ${maxFiles} files are included`);
  try {
    const file = insideFolder(wanted, walk.folder);
    if (frame.chain.includes(file)) return fail(`the files include each other: ${[...frame.chain, file].join(" → ")}`);
    const source = parseSource(file, readBytes(file, { follow: false, single: true }));
    if (!walk.files.includes(file)) walk.files.push(file);
    if ("message" in source) {
      walk.issues.push({ ...source, path: joined([...frame.prefix, ...here.slice(0, -1)], source.path) });
      return undefined;
    }
    return source;
  } catch (error) {
    if (error instanceof OpenClawError) return fail(error.message, error.hint);
    throw error;
  }
}

/** The resolved path of a file, which must be below the folder. */
function insideFolder(wanted: string, folder: string): string {
  if (wanted.includes("\0")) throw new OpenClawError("config.include", "a file name cannot contain a NUL character");
  const real = realOf(wanted);
  const inside = relative(realOf(folder), real);
  if (inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return real;
  throw new OpenClawError("config.include", `${wanted} is outside the folder of the config, ${folder}`, {
    hint: "move the file below that folder; links must not lead out of it",
  });
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new OpenClawError("config.missing", `${path} does not exist or is not accessible`, { cause });
  }
}

/** Merges objects key by key; for any other value the later one wins. */
function deepMerge(earlier: unknown, later: unknown): unknown {
  if (!isRecord(earlier) || !isRecord(later)) return later;
  const merged = new Map<string, unknown>(Object.entries(earlier));
  for (const [key, value] of Object.entries(later))
    merged.set(key, merged.has(key) ? deepMerge(merged.get(key), value) : value);
  return Object.fromEntries(merged);
}

function report(walk: Walk, frame: Frame, path: readonly Segment[], message: string, hint?: string): void {
  const { file, line, column } = placeInSource(frame.source, path);
  const where = formatPath([...frame.prefix, ...path]) || rootPath;
  walk.issues.push({ path: where, message, file, line, column, ...(hint === undefined ? {} : { hint }) });
}

function joined(prefix: ConfigPath, path: string): string {
  const start = formatPath(prefix);
  if (path === rootPath) return start || rootPath;
  if (start === "") return path;
  return path.startsWith("[") ? start + path : `${start}.${path}`;
}
