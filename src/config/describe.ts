// Lists every config key with type, default and description, for docs and forms.
import { schemaRoot } from "./schema-root.ts";
import { describedAs, valueSchema, type SchemaNode } from "./schema-node.ts";

export interface KeyDescription {
  /** `[]` means any entry of a list, `*` any key of a record. */
  readonly path: string;
  readonly type: string;
  readonly default?: unknown;
  /** The value while the key is unset, where it depends on other keys. */
  readonly fallback?: string;
  readonly description?: string;
  readonly sensitive?: true;
  /** The key has no effect, because its feature is not built yet. */
  readonly notBuilt?: true;
}

/** How a key is shown depends on the keys above it. */
interface Inherited {
  readonly hasDefaults: boolean;
  readonly isNotBuilt: boolean;
}

/** In the order of the schema. Accounts repeat the keys of their channel and are not listed again. */
export function describeKeys(): KeyDescription[] {
  return Object.entries(schemaRoot.properties ?? {}).flatMap(([key, node]) =>
    describe(node, key, { hasDefaults: true, isNotBuilt: false }),
  );
}

function describe(node: SchemaNode, path: string, above: Inherited): KeyDescription[] {
  const here = inherit(node, above);
  const description = describedAs(node, here.isNotBuilt);
  const own: KeyDescription = {
    path,
    type: typeWords(node),
    ...(here.hasDefaults && node.default !== undefined && !isSection(node) ? { default: node.default } : {}),
    ...(node.fallback === undefined ? {} : { fallback: node.fallback }),
    ...(description === undefined ? {} : { description }),
    ...(node.sensitive === true ? { sensitive: true } : {}),
    ...(here.isNotBuilt ? { notBuilt: true } : {}),
  };
  return [own, ...below(node, path, here)];
}

function inherit(node: SchemaNode, { hasDefaults, isNotBuilt }: Inherited): Inherited {
  return { hasDefaults: hasDefaults && node.inherits !== true, isNotBuilt: isNotBuilt || node.notBuilt === true };
}

function below(node: SchemaNode, path: string, here: Inherited): KeyDescription[] {
  if (path.endsWith(".accounts")) return [];
  const branches = node.anyOf ?? [node];
  return branches.flatMap((branch) => {
    const named = Object.entries(branch.properties ?? {}).flatMap(([key, child]) =>
      describe(child, `${path}.${key}`, here),
    );
    const value = valueSchema(branch);
    const free = value === undefined ? [] : inner(value, `${path}.*`, here);
    const items = branch.items === undefined ? [] : inner(branch.items, `${path}[]`, here);
    return [...named, ...free, ...items];
  });
}

/** Object entries have their own keys; the type of the whole describes all others. */
function inner(node: SchemaNode, path: string, above: Inherited): KeyDescription[] {
  return below(node, path, inherit(node, above));
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
