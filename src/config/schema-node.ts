// The config schema as a plain tree, for checks, defaults, redaction and docs.
import type { ConfigPath, Segment } from "./path.ts";

export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  /** The value while the key is unset, in words. */
  readonly fallback?: string;
  readonly sensitive?: boolean;
  readonly place?: "hidden" | "kept";
  /** The key has no effect, because its feature is not built yet. */
  readonly notBuilt?: boolean;
  /** No defaults are filled in below: these keys override others. */
  readonly inherits?: boolean;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  /** Records: one pattern that matches every key. */
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The description for people, with a note on keys without effect. */
export function describedAs({ description }: SchemaNode, isNotBuilt: boolean): string | undefined {
  if (description === undefined || !isNotBuilt) return description;
  return `${description} Not built yet: this key has no effect.`;
}

/** The schema of an object's key; undefined when the key is not known there. */
export function childSchema(node: SchemaNode, key: string): SchemaNode | undefined {
  if (node.properties !== undefined && Object.hasOwn(node.properties, key)) return node.properties[key];
  return valueSchema(node);
}

/** The schema of keys that are not listed: the value of a record. */
export function valueSchema(node: SchemaNode): SchemaNode | undefined {
  if (node.patternProperties !== undefined) return Object.values(node.patternProperties)[0];
  if (typeof node.additionalProperties === "object") return node.additionalProperties;
  return node.type === "object" && node.properties === undefined ? {} : undefined;
}

/** The schema a path leads to, through the branches of unions. */
export function schemaAt(root: SchemaNode, path: ConfigPath): SchemaNode | undefined {
  const [segment, ...rest] = path;
  if (segment === undefined) return root;
  for (const branch of root.anyOf ?? [root]) {
    const child = stepInto(branch, segment);
    const found = child === undefined ? undefined : schemaAt(child, rest);
    if (found !== undefined) return found;
  }
  return undefined;
}

function stepInto(node: SchemaNode, segment: Segment): SchemaNode | undefined {
  return typeof segment === "number" ? node.items : childSchema(node, segment);
}

/** `string`, `number`, `boolean`, `array`, `object` or `null`. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Whether a value of this kind could be valid for the node. */
export function takesKind(node: SchemaNode, kind: string): boolean {
  if (node.anyOf !== undefined) return node.anyOf.some((branch) => takesKind(branch, kind));
  if (node.type === undefined) return true;
  return node.type === kind || (node.type === "integer" && kind === "number");
}
