// Every key of the config as one flat list, for docs and forms.
import { schemaRoot } from "./schema-root.ts";
import { valueSchema, type SchemaNode } from "./schema-node.ts";

export interface KeyDescription {
  /** `[]` stands for any entry of a list, `*` for any key of a record. */
  readonly path: string;
  readonly type: string;
  readonly default?: unknown;
  /** What applies while it is unset, in words, where no default says it. */
  readonly fallback?: string;
  readonly description?: string;
  readonly sensitive?: true;
}

/** In the order of the schema. Accounts repeat the keys of their channel and are not listed again. */
export function describeKeys(): KeyDescription[] {
  return Object.entries(schemaRoot.properties ?? {}).flatMap(([key, node]) => describe(node, key, true));
}

function describe(node: SchemaNode, path: string, hasDefaults: boolean): KeyDescription[] {
  const filled = hasDefaults && node.inherits !== true;
  const own: KeyDescription = {
    path,
    type: typeWords(node),
    ...(filled && node.default !== undefined && !isSection(node) ? { default: node.default } : {}),
    ...(node.fallback === undefined ? {} : { fallback: node.fallback }),
    ...(node.description === undefined ? {} : { description: node.description }),
    ...(node.sensitive === true ? { sensitive: true } : {}),
  };
  return [own, ...below(node, path, filled)];
}

function below(node: SchemaNode, path: string, hasDefaults: boolean): KeyDescription[] {
  if (path.endsWith(".accounts")) return [];
  const branches = node.anyOf ?? [node];
  return branches.flatMap((branch) => {
    const named = Object.entries(branch.properties ?? {}).flatMap(([key, child]) =>
      describe(child, `${path}.${key}`, hasDefaults),
    );
    const value = valueSchema(branch);
    const free = value === undefined ? [] : inner(value, `${path}.*`, hasDefaults);
    const items = branch.items === undefined ? [] : inner(branch.items, `${path}[]`, hasDefaults);
    return [...named, ...free, ...items];
  });
}

/** Entries that are objects have keys of their own; plain ones are said by the type of the whole. */
function inner(node: SchemaNode, path: string, hasDefaults: boolean): KeyDescription[] {
  return below(node, path, hasDefaults && node.inherits !== true);
}

function isSection(node: SchemaNode): boolean {
  return node.type === "object";
}

/** `"off" | "on"`, `whole number, 1 to 65535`, `list of text`, `text or object`. */
export function typeWords(node: SchemaNode): string {
  if (node.anyOf !== undefined) return node.anyOf.map(typeWords).join(" or ");
  if (node.enum !== undefined) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (node.type === "array") return `list of ${node.items === undefined ? "anything" : typeWords(node.items)}`;
  if (node.type === "integer" || node.type === "number") return numberWords(node);
  if (node.type !== "object") return node.type === undefined ? "anything" : (plainWords[node.type] ?? node.type);
  const value = valueSchema(node);
  return value === undefined || node.properties !== undefined ? "object" : `record of ${typeWords(value)}`;
}

const plainWords: Readonly<Record<string, string>> = { string: "text", boolean: "true or false" };

function numberWords({ type, minimum, maximum }: SchemaNode): string {
  const kind = type === "integer" ? "whole number" : "number";
  if (minimum !== undefined && maximum !== undefined) return `${kind}, ${minimum} to ${maximum}`;
  if (minimum !== undefined && minimum > 0) return `${kind}, at least ${minimum}`;
  return maximum === undefined ? kind : `${kind}, at most ${maximum}`;
}
