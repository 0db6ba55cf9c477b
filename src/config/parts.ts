// The first half of loading a config, without the schema: the file, its includes and its variables.
import type { Env, Paths } from "../base/paths.ts";
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { configVariables, fillIn, readDotEnv, type DotEnv } from "./environment.ts";
import { expandIncludes } from "./include.ts";
import { rootPath, type ConfigIssue } from "./issue.ts";
import { formatPath } from "./path.ts";
import { parseSource, placeInSource, readBytes, type Source } from "./source.ts";
import { substitute, type MissingVariable } from "./substitute.ts";

export interface ConfigParts {
  readonly exists: boolean;
  readonly bytes: Uint8Array;
  readonly raw: string;
  /** An empty object when the file is not readable. */
  readonly parsed: unknown;
  readonly issues: readonly ConfigIssue[];
  readonly files: readonly string[];
  readonly source: Source | undefined;
  readonly env: Env;
  readonly dotEnv: DotEnv;
  readonly configEnv: DotEnv;
}

export interface PartsOptions {
  readonly paths: Paths;
  readonly env: Env;
  /** Used instead of the file. */
  readonly text?: string;
}

/** Never throws for the content of a file. */
export function readParts({ paths, env, text }: PartsOptions): ConfigParts {
  const dotEnv = readDotEnv(paths);
  const base = fillIn(env, dotEnv.values);
  const { exists, bytes, issue }: MainFile =
    text === undefined ? readMain(paths.config) : { exists: true, bytes: Buffer.from(text, "utf8") };
  const raw = bytes.toString("utf8");
  const nothing = {
    exists,
    bytes,
    raw,
    parsed: {},
    files: [paths.config],
    source: undefined,
    env: base,
    dotEnv,
    configEnv: noVariables,
  };
  if (issue !== undefined) return { ...nothing, issues: [issue] };
  if (!exists) return { ...nothing, issues: [] };
  const source = parseSource(paths.config, bytes);
  if ("message" in source) return { ...nothing, issues: [source] };
  const expansion = expandIncludes(source);
  const configEnv = configVariables(
    substitute(isRecord(expansion.value) ? expansion.value["env"] : undefined, base).value,
  );
  const full = fillIn(base, configEnv.values);
  const { value, missing } = substitute(expansion.value, full);
  const unset = missing.map((variable) => unsetIssue(variable, source));
  const shape = isRecord(value)
    ? []
    : [{ path: rootPath, message: "must be an object", file: paths.config, line: 1, column: 1 }];
  return {
    ...nothing,
    parsed: value,
    issues: [...expansion.issues, ...unset, ...shape],
    files: expansion.files,
    source,
    env: full,
    configEnv,
  };
}

function unsetIssue({ path, name }: MissingVariable, source: Source): ConfigIssue {
  const { file, line, column } = placeInSource(source, path);
  const hint = `set ${name}, or write $\${${name}} for the text itself`;
  return { path: formatPath(path) || rootPath, message: `the variable ${name} is not set`, file, line, column, hint };
}

const noVariables: DotEnv = { values: {}, refused: [] };

export interface MainFile {
  readonly exists: boolean;
  readonly bytes: Buffer;
  readonly issue?: ConfigIssue;
}

/** The bytes of the config; empty, with `exists` false, when there is no file. */
export function readMain(file: string): MainFile {
  try {
    return { exists: true, bytes: readBytes(file, { follow: true, single: false }) };
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    if (error.code === "config.missing") return { exists: false, bytes: Buffer.alloc(0) };
    return { exists: true, bytes: Buffer.alloc(0), issue: { path: rootPath, message: error.message, file } };
  }
}
