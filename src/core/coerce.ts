// Converts values that weak models send in the wrong type ("2" for 2, "true" for true), where the schema is
// unambiguous.
import { isRecord } from "./record.ts";
import type { TSchema } from "./schema.ts";

/** The relevant part of a JSON Schema; a schema with several types has neither and its value is not converted. */
interface SchemaNode {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** Returns the value itself where nothing changes. Never throws: an invalid value is left for validation. */
export function coerce(schema: TSchema, value: unknown): unknown {
  return coerceNode(schema as SchemaNode, value);
}

function coerceNode(schema: SchemaNode, value: unknown): unknown {
  switch (schema.type) {
    case "number":
      return toNumber(value);
    case "integer":
      return toInteger(toNumber(value));
    case "boolean":
      return toBoolean(value);
    case "array":
      return Array.isArray(value) && schema.items !== undefined ? coerceItems(schema.items, value) : value;
    case "object":
      return isRecord(value) && schema.properties !== undefined ? coerceProperties(schema.properties, value) : value;
    default:
      return value;
  }
}

function coerceItems(items: SchemaNode, value: readonly unknown[]): unknown {
  const coerced = value.map((item) => coerceNode(items, item));
  return coerced.some((item, at) => item !== value[at]) ? coerced : value;
}

function coerceProperties(properties: Readonly<Record<string, SchemaNode>>, value: Record<string, unknown>): unknown {
  const changed = Object.entries(value).flatMap(([key, given]): [string, unknown][] => {
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const coerced = schema === undefined ? given : coerceNode(schema, given);
    return coerced === given ? [] : [[key, coerced]];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

/** A number in JSON syntax only; " 2", "2px", "0x10" and "" are not. */
const jsonNumber = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

function toNumber(value: unknown): unknown {
  return typeof value === "string" && jsonNumber.test(value) ? Number(value) : value;
}

/** Also Python's True and False. */
function toBoolean(value: unknown): unknown {
  if (value === "true" || value === "True") return true;
  return value === "false" || value === "False" ? false : value;
}

function toInteger(value: unknown): unknown {
  return typeof value === "number" && Number.isFinite(value) ? Math.round(value) : value;
}
