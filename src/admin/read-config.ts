// The config and its schema for an agent: redacted, and one part at a time because tool results are bounded.
import { OpenClawError, ToolError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { describeKeys, type KeyDescription } from "../config/describe.ts";
import { configJsonSchema } from "../config/json-schema.ts";
import type { LoadedConfig } from "../config/load.ts";
import { formatPath, getAt, hasAt, parsePath, type Segment } from "../config/path.ts";
import { protectedReason } from "../config/protected.ts";
import { redactConfig, secretsOfEnv } from "../config/redact.ts";
import type { AdminAnswer } from "../tool/admin.ts";

export function showConfig(loaded: LoadedConfig, path: string | undefined): AdminAnswer {
  const { hash, valid, exists, issues, warnings } = loaded;
  const file = loaded.path;
  const known = secretsOfEnv(loaded.env);
  if (path === undefined) {
    const details = { path: file, exists, valid, hash, config: redactConfig(loaded.parsed, known), issues, warnings };
    return { text: JSON.stringify(details, null, 1), details };
  }
  const at = segmentsOf(path);
  // With defaults: the effective value is what most callers ask for.
  const shown = redactConfig(loaded.config, known);
  if (!hasAt(shown, at)) throw notFound(path);
  const written = hasAt(loaded.parsed, at);
  const details = { path: formatPath(at), value: getAt(shown, at), written, hash, valid };
  return { text: JSON.stringify(details, null, 1), details };
}

const MAX_KEYS = 150;
const MAX_SCHEMA_CHARS = 20_000;

export function showSchema(version: string, path: string | undefined): AdminAnswer {
  const all = describeKeys();
  if (path === undefined) {
    const keys = all.filter((key) => !/[.[]/.test(key.path));
    return { text: `${keys.map(lineOf).join("\n")}\nShow one of them with path.`, details: { version, keys } };
  }
  const name = formatPath(segmentsOf(path)).replaceAll(/\[\d+\]/g, "[]");
  const below = all.filter((key) => key.path === name || isBelow(key.path, name));
  if (below.length === 0) throw notFound(path);
  const keys = below.length <= MAX_KEYS ? below : below.filter((key) => depthBelow(key.path, name) <= 1);
  const schema = schemaAt(segmentsOf(path));
  const more =
    keys.length < below.length ? "\nOnly the first level is listed; use a longer path to see the keys below." : "";
  return {
    text: `${keys.map(lineOf).join("\n")}${more}`,
    details: {
      version,
      path: name,
      keys,
      ...(schema !== undefined && JSON.stringify(schema).length <= MAX_SCHEMA_CHARS ? { schema } : {}),
    },
  };
}

const isBelow = (path: string, name: string): boolean => path.startsWith(`${name}.`) || path.startsWith(`${name}[`);

const depthBelow = (path: string, name: string): number => path.slice(name.length).match(/\.|\[/g)?.length ?? 0;

function lineOf({ path, type, default: value, fallback, description }: KeyDescription): string {
  const shown = value === undefined ? fallback : JSON.stringify(value);
  const owner = protectedReason(path.replaceAll("[]", ".0").split(".")) === undefined ? "" : " [owner]";
  return `${path}${owner}: ${type}${shown === undefined ? "" : `, default ${shown}`}. ${description ?? ""}`.trimEnd();
}

function schemaAt(path: readonly Segment[]): unknown {
  return path.reduce<unknown>((node, segment) => {
    if (!isRecord(node)) return undefined;
    const { properties, additionalProperties, items, anyOf } = node;
    if (typeof segment === "number") return items;
    if (isRecord(properties) && Object.hasOwn(properties, segment)) return properties[segment];
    if (isRecord(additionalProperties)) return additionalProperties;
    return Array.isArray(anyOf)
      ? anyOf.find((branch) => isRecord(branch) && isRecord(branch["properties"]))
      : undefined;
  }, configJsonSchema());
}

function segmentsOf(path: string): Segment[] {
  try {
    return parsePath(path);
  } catch (error) {
    if (error instanceof OpenClawError) throw new ToolError(error.code, error.message, { hint: error.hint ?? "" });
    throw error;
  }
}

function notFound(path: string): ToolError {
  return new ToolError("config.no-path", `Config path not found: ${path.slice(0, 200)}`, {
    hint: "config.schema without a path lists the sections",
  });
}
