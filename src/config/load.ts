// Loads the config from disk: includes, variables, legacy keys, schema, rules, defaults. Never throws for its content.
import type { Env, Paths } from "../base/paths.ts";
import { sha256 } from "../base/ids.ts";
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { checkValue, type Finding } from "./check.ts";
import { withDefaults } from "./defaults.ts";
import { withEnvironment } from "./environment-defaults.ts";
import { findLegacyKeys } from "./legacy.ts";
import { dotEnvFile } from "./environment.ts";
import { rootPath, type ConfigIssue } from "./issue.ts";
import { formatPath, parsePath, unsetAt, type ConfigPath } from "./path.ts";
import { readParts, type ConfigParts } from "./parts.ts";
import { checkRules } from "./rules.ts";
import { schemaRoot } from "./schema-root.ts";
import type { Config } from "./schema/index.ts";
import { placeInSource, type FilePlace, type Source } from "./source.ts";

export type { ConfigIssue } from "./issue.ts";

export interface LoadedConfig {
  readonly path: string;
  readonly exists: boolean;
  readonly raw: string;
  /** SHA-256 of the bytes, hex. */
  readonly hash: string;
  /** With includes and variables, without defaults. */
  readonly parsed: unknown;
  /** With defaults. Only defaults when the file is absent or invalid: check `valid` first. */
  readonly config: Config;
  readonly valid: boolean;
  /** All problems that make it invalid, including legacy keys. */
  readonly issues: readonly ConfigIssue[];
  readonly warnings: readonly ConfigIssue[];
  readonly legacyIssues: readonly ConfigIssue[];
  /** All files read, the config first. */
  readonly files: readonly string[];
  /** The environment with `<state>/.env` and the config's `env` filled in. */
  readonly env: Env;
  /** Where a path is written; undefined when it is not in a file. */
  locate(path: string): FilePlace | undefined;
}

export interface LoadOptions {
  readonly paths: Paths;
  readonly env: Env;
  /** Validates this text instead of the file. */
  readonly text?: string;
  /** Channels of plugins, which validate their own keys. */
  readonly channels?: readonly string[];
}

export function loadConfig({ paths, env, text, channels = [] }: LoadOptions): LoadedConfig {
  const parts = readParts({ paths, env, ...(text === undefined ? {} : { text }) });
  const { source } = parts;
  const toIssue = (finding: Finding): ConfigIssue => issueOf(finding, source);
  const legacy = findLegacyKeys(parts.parsed);
  const judged = judge(
    parts,
    legacy.map(({ path }) => path),
    channels,
  );
  const legacyIssues = legacy.map(toIssue);
  const issues = [...parts.issues, ...legacyIssues, ...judged.errors.map(toIssue)];
  const warnings = [...envWarnings(parts, paths), ...duplicateWarnings(source), ...judged.warnings.map(toIssue)];
  const valid = issues.length === 0;
  return {
    path: paths.config,
    exists: parts.exists,
    raw: parts.raw,
    hash: sha256(parts.bytes),
    parsed: parts.parsed,
    config: (valid ? judged.config : withDefaults(schemaRoot, {})) as Config,
    valid,
    issues,
    warnings,
    legacyIssues,
    files: parts.files,
    env: parts.env,
    locate: (path) => locate(source, path),
  };
}

interface Judgement {
  readonly config: unknown;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

function judge({ parsed, env }: ConfigParts, legacy: readonly ConfigPath[], channels: readonly string[]): Judgement {
  if (!isRecord(parsed)) return { config: undefined, errors: [], warnings: [] };
  const foreign = channels.map((id) => ["channels", id]).filter((path) => schemaLacks(path));
  const ours = [...legacy, ...foreign].reduce<unknown>((value, path) => unsetAt(value, path), parsed);
  const findings = checkValue(schemaRoot, ours).filter(({ path }) => !isEmptied(path, legacy));
  if (findings.length > 0) return { config: undefined, errors: findings, warnings: [] };
  const filled = clampTokens(withEnvironment(withDefaults(schemaRoot, parsed), parsed, env)) as Config;
  const { errors, warnings } = checkRules(ours as Config, env);
  return { config: filled, errors, warnings };
}

/** Removing a legacy key may leave its parent empty and unknown. */
function isEmptied(path: ConfigPath, legacy: readonly ConfigPath[]): boolean {
  return legacy.some((old) => path.length < old.length && path.every((segment, index) => segment === old[index]));
}

function schemaLacks([, id]: readonly string[]): boolean {
  return !Object.hasOwn(schemaRoot.properties?.["channels"]?.properties ?? {}, id ?? "");
}

/** A model cannot answer with more tokens than its context window. */
function clampTokens(value: unknown): unknown {
  const { models } = value as Config;
  for (const { models: list = [] } of Object.values(models?.providers ?? {})) {
    for (const model of list) model.maxTokens = Math.min(model.maxTokens ?? Infinity, model.contextWindow ?? Infinity);
  }
  return value;
}

function issueOf({ path, message, hint }: Finding, source: Source | undefined): ConfigIssue {
  const place = source === undefined ? {} : placeOnly(source, path);
  return { path: formatPath(path) || rootPath, message, ...place, ...(hint === undefined ? {} : { hint }) };
}

function placeOnly(source: Source, path: ConfigPath): FilePlace {
  const { file, line, column } = placeInSource(source, path);
  return { file, line, column };
}

function locate(source: Source | undefined, path: string): FilePlace | undefined {
  if (source === undefined) return undefined;
  try {
    const { exact, ...place } = placeInSource(source, parsePath(path));
    return exact ? place : undefined;
  } catch (error) {
    if (error instanceof OpenClawError) return undefined;
    throw error;
  }
}

function envWarnings({ dotEnv, configEnv, source }: ConfigParts, paths: Paths): ConfigIssue[] {
  const message = (name: string): string =>
    `${name} is not taken from a file; set it in the environment of the gateway`;
  const file = dotEnvFile(paths);
  const problem = dotEnv.problem === undefined ? [] : [{ path: "env", message: dotEnv.problem, file }];
  return [
    ...problem,
    ...dotEnv.refused.map((name) => ({ path: `env.${name}`, message: message(name), file })),
    ...configEnv.refused.map((name) => issueOf({ path: ["env", name], message: message(name) }, source)),
  ];
}

/** json5 uses the last of two equal keys, so the first one is reported. */
function duplicateWarnings(source: Source | undefined): ConfigIssue[] {
  if (source?.tree === undefined) return [];
  const found: ConfigIssue[] = [];
  const walk = (node: NonNullable<Source["tree"]>, path: ConfigPath): void => {
    if (node.kind === "scalar") return;
    const seen = new Set<string | number>();
    for (const { key, value } of node.entries) {
      if (seen.has(key))
        found.push(issueOf({ path: [...path, key], message: "is written twice; the last one is used" }, source));
      seen.add(key);
      walk(value, [...path, key]);
    }
  };
  walk(source.tree, []);
  const parts = source.mounts.flatMap((mount) => mount.parts.map((part) => part.source));
  return [...found, ...parts.flatMap(duplicateWarnings)];
}
