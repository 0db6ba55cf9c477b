// Validates a value against the config schema, strictly and with messages that a person can act on.
import { nearest } from "../core/nearest.ts";
import { isRecord } from "../core/record.ts";
import { type ConfigPath } from "./path.ts";
import { childSchema, kindOf, takesKind, type SchemaNode } from "./schema-node.ts";

export interface Finding {
  readonly path: ConfigPath;
  readonly message: string;
  readonly hint?: string;
}

const maxFindings = 100;

/** Empty when the value is valid. In document order. */
export function checkValue(schema: SchemaNode, value: unknown): Finding[] {
  return findings(schema, value, []).slice(0, maxFindings);
}

function findings(node: SchemaNode, value: unknown, path: ConfigPath): Finding[] {
  if (node.anyOf !== undefined) return unionFindings(node, node.anyOf, value, path);
  if (!takesKind(node, kindOf(value))) return [wrongKind(node, value, path)];
  if (node.enum !== undefined) return enumFindings(node.enum, value, path);
  if (typeof value === "string") return textFindings(node, value, path);
  if (typeof value === "number") return numberFindings(node, value, path);
  if (Array.isArray(value)) {
    const { items } = node;
    return items === undefined ? [] : value.flatMap((item, index) => findings(items, item, [...path, index]));
  }
  return isRecord(value) && node.type === "object" ? objectFindings(node, value, path) : [];
}

function objectFindings(node: SchemaNode, value: Record<string, unknown>, path: ConfigPath): Finding[] {
  const missing = (node.required ?? []).filter((key) => !Object.hasOwn(value, key));
  const absent = missing.map((key): Finding => ({
    path: [...path, key],
    message: "is missing",
    hint: `add ${key} here`,
  }));
  const present = Object.entries(value).flatMap(([key, child]): Finding[] => {
    const schema = childSchema(node, key);
    if (schema !== undefined) return findings(schema, child, [...path, key]);
    return [unknownKey(key, Object.keys(node.properties ?? {}), path)];
  });
  return [...absent, ...present];
}

function unknownKey(key: string, known: readonly string[], path: ConfigPath): Finding {
  const near = nearest(key, known);
  const hint = near === undefined ? `known here: ${shortList(known)}` : `did you mean ${near}?`;
  return { path: [...path, key], message: `unknown key ${JSON.stringify(key)}`, hint };
}

/** The branch for this kind of value decides; with several such branches, all must fail. */
function unionFindings(node: SchemaNode, branches: readonly SchemaNode[], value: unknown, path: ConfigPath): Finding[] {
  const fitting = branches.filter((branch) => takesKind(branch, kindOf(value)));
  if (fitting.length === 0) return [wrongKind(node, value, path)];
  const results = fitting.map((branch) => findings(branch, value, path));
  return results.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function enumFindings(choices: readonly unknown[], value: unknown, path: ConfigPath): Finding[] {
  if (choices.includes(value)) return [];
  const words = choices.map(String);
  const near = typeof value === "string" ? nearest(value, words) : undefined;
  const hint = near === undefined ? undefined : `did you mean ${near}?`;
  return [{ path, message: `must be one of ${shortList(words)}`, ...(hint === undefined ? {} : { hint }) }];
}

function textFindings(node: SchemaNode, value: string, path: ConfigPath): Finding[] {
  if (value.length < (node.minLength ?? 0)) return [{ path, message: "must not be empty" }];
  if (node.pattern === undefined || new RegExp(node.pattern, "u").test(value)) return [];
  const meaning = node.description === undefined ? {} : { hint: node.description };
  return [{ path, message: "has an invalid format", ...meaning }];
}

function numberFindings(node: SchemaNode, value: number, path: ConfigPath): Finding[] {
  if (!Number.isFinite(value)) return [{ path, message: "must be a finite number" }];
  if (node.type === "integer" && !Number.isInteger(value)) return [{ path, message: "must be a whole number" }];
  if (value < (node.minimum ?? -Infinity)) return [{ path, message: `must be at least ${node.minimum}` }];
  if (value > (node.maximum ?? Infinity)) return [{ path, message: `must be at most ${node.maximum}` }];
  return [];
}

function wrongKind(node: SchemaNode, value: unknown, path: ConfigPath): Finding {
  const wanted = (node.anyOf ?? [node]).map((branch) => kindWords[branch.type ?? ""] ?? "a value");
  return { path, message: `must be ${[...new Set(wanted)].join(" or ")}, not ${kindWords[kindOf(value)] ?? "this"}` };
}

const kindWords: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

function shortList(words: readonly string[]): string {
  const shown = words.slice(0, 12).join(", ");
  return words.length > 12 ? `${shown}, …` : shown;
}
