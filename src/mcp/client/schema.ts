// Reduces JSON Schemas of MCP servers to keywords that are safe to compile and to show a model. A dropped keyword only
// loosens our own check; the server checks its arguments itself.
import { isRecord } from "../../core/record.ts";
import type { TObject } from "../../core/schema.ts";
import { neutralize } from "../../base/untrusted-content.ts";

type Walk = (part: unknown) => unknown;

/** Without `pattern`: a regular expression of a server could stall the gateway. References stay inside the schema. */
const kept: Readonly<Record<string, (value: unknown, walk: Walk) => unknown>> = {
  type: (value) => (isTypeName(value) || (Array.isArray(value) && value.every(isTypeName)) ? value : undefined),
  description: textOf,
  title: textOf,
  default: plain,
  const: plain,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? plain(value) : undefined),
  required: (value) => (Array.isArray(value) ? value.filter((name) => typeof name === "string") : undefined),
  minimum: numberOf,
  maximum: numberOf,
  minLength: numberOf,
  maxLength: numberOf,
  minItems: numberOf,
  maxItems: numberOf,
  properties: mapOf,
  $defs: mapOf,
  definitions: mapOf,
  items: (value, walk) => walk(value),
  additionalProperties: (value, walk) => (typeof value === "boolean" ? value : walk(value)),
  anyOf: listOf,
  oneOf: listOf,
  allOf: listOf,
  $ref: (value) => (typeof value === "string" && localReference.test(value) ? value : undefined),
};

const localReference = /^#\/(?:\$defs|definitions)\/[\w.-]+$/;
const MAX_NODES = 2_000;
const MAX_DEPTH = 24;
const MAX_TEXT = 1_000;
const types: ReadonlySet<unknown> = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);
const isTypeName = (value: unknown): boolean => types.has(value);

/** Always the schema of an object, with `properties` and `required`. */
export function safeSchema(raw: Readonly<Record<string, unknown>>): TObject {
  const budget = { nodes: MAX_NODES };
  const schema = reduce(raw, budget, 0);
  const { properties = {}, required = [] } = schema;
  return { ...schema, type: "object", properties, required } as TObject;
}

/** Beyond the limits, and for `true`, a schema that accepts any value. */
function reduce(value: unknown, budget: { nodes: number }, depth: number): Record<string, unknown> {
  budget.nodes -= 1;
  if (!isRecord(value) || budget.nodes < 0 || depth > MAX_DEPTH) return {};
  const walk: Walk = (part) => reduce(part, budget, depth + 1);
  const entries = Object.entries(value).flatMap(([keyword, part]): [string, unknown][] => {
    const safe = Object.hasOwn(kept, keyword) ? kept[keyword]?.(part, walk) : undefined;
    return safe === undefined ? [] : [[keyword, safe]];
  });
  return Object.fromEntries(entries);
}

function mapOf(value: unknown, walk: Walk): unknown {
  if (!isRecord(value)) return undefined;
  const names = Object.keys(value).filter((name) => name !== "__proto__" && name.length <= 200);
  return Object.fromEntries(names.map((name) => [name, walk(value[name])]));
}

function listOf(value: unknown, walk: Walk): unknown {
  return Array.isArray(value) && value.length > 0 ? value.map(walk) : undefined;
}

function textOf(value: unknown): unknown {
  return typeof value === "string" ? neutralize(value).slice(0, MAX_TEXT) : undefined;
}

function numberOf(value: unknown): unknown {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A value that a model reads, such as a default. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined || text.length > MAX_TEXT ? undefined : value;
}
