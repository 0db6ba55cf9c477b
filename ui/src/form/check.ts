// Checks a value against its schema for early feedback; the gateway validates it again.
import { isRecord } from "../../../src/core/record.ts";
import { asSchema, type Schema } from "./field.ts";
import { isEqual } from "./json-equal.ts";

export interface FieldIssue {
  /** JSON pointer; "" is the whole value. */
  readonly path: string;
  readonly message: string;
}

export function checkValue(schema: Schema, value: unknown, path = ""): FieldIssue[] {
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) return checkBranches(branches.map(asSchema), value, path);
  const message = wrongKind(schema, value) ?? wrongValue(schema, value);
  if (message !== undefined) return [{ path, message }];
  if (Array.isArray(value))
    return value.flatMap((item, index) => checkValue(asSchema(schema["items"]), item, `${path}/${index}`));
  return isRecord(value) ? checkMembers(schema, value, path) : [];
}

function checkBranches(branches: readonly Schema[], value: unknown, path: string): FieldIssue[] {
  const found = branches.map((branch) => checkValue(branch, value, path));
  if (found.some((issues) => issues.length === 0)) return [];
  // The branch that matched furthest gives the most useful message.
  const nearest = found.find((issues) => issues.every((issue) => issue.path !== path));
  return nearest ?? [{ path, message: "Does not match any of the allowed forms." }];
}

function wrongKind(schema: Schema, value: unknown): string | undefined {
  if ("const" in schema)
    return isEqual(schema["const"], value) ? undefined : `Must be ${JSON.stringify(schema["const"])}.`;
  const choices = schema["enum"];
  if (Array.isArray(choices)) {
    return choices.some((choice) => isEqual(choice, value))
      ? undefined
      : `Must be one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}.`;
  }
  const types = [schema["type"]].flat().filter((type) => typeof type === "string");
  if (types.length === 0 || types.some((type) => isOfType(type, value))) return undefined;
  return `Must be ${types.map((type) => typeNames[type] ?? type).join(" or ")}.`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "an object",
  null: "null",
};

function isOfType(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  return type === "object" ? isRecord(value) : typeof value === type;
}

function wrongValue(schema: Schema, value: unknown): string | undefined {
  if (typeof value === "number") return wrongNumber(schema, value);
  if (typeof value === "string") return wrongText(schema, value);
  return Array.isArray(value)
    ? wrongLength(schema, value.length, "minItems", "maxItems", ["entry", "entries"])
    : undefined;
}

function wrongNumber(schema: Schema, value: number): string | undefined {
  const limit = (key: string): number | undefined => (typeof schema[key] === "number" ? schema[key] : undefined);
  const [least, most, above, below, step] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
  ].map(limit);
  if (least !== undefined && value < least) return `Must be at least ${least}.`;
  if (most !== undefined && value > most) return `Must be at most ${most}.`;
  if (above !== undefined && value <= above) return `Must be more than ${above}.`;
  if (below !== undefined && value >= below) return `Must be less than ${below}.`;
  return step !== undefined && !Number.isInteger(value / step) ? `Must be a multiple of ${step}.` : undefined;
}

function wrongText(schema: Schema, value: string): string | undefined {
  const length = wrongLength(schema, Array.from(value).length, "minLength", "maxLength", ["character", "characters"]);
  if (length !== undefined) return length;
  const pattern = typeof schema["pattern"] === "string" ? toPattern(schema["pattern"]) : undefined;
  return pattern === undefined || pattern.test(value) ? undefined : `Must match ${pattern.source}.`;
}

function wrongLength(
  schema: Schema,
  length: number,
  least: string,
  most: string,
  [one, many]: [string, string],
): string | undefined {
  const [min, max] = [schema[least], schema[most]];
  if (typeof min === "number" && length < min) return `Must have at least ${min} ${min === 1 ? one : many}.`;
  return typeof max === "number" && length > max ? `Must have at most ${max} ${max === 1 ? one : many}.` : undefined;
}

/** The gateway checks a pattern that this browser cannot compile. */
function toPattern(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined;
  }
}

function checkMembers(schema: Schema, value: Readonly<Record<string, unknown>>, path: string): FieldIssue[] {
  const members = asSchema(schema["properties"]);
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const missing = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path: memberPath(path, name), message: "Required." }));
  const rest = schema["additionalProperties"];
  const present = Object.entries(value).flatMap(([name, member]): FieldIssue[] => {
    if (Object.hasOwn(members, name)) return checkValue(asSchema(members[name]), member, memberPath(path, name));
    if (rest === false) return [{ path, message: `Unknown field: ${name}` }];
    return checkValue(asSchema(rest), member, memberPath(path, name));
  });
  return [...missing, ...present];
}

export function memberPath(path: string, name: string): string {
  return `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
