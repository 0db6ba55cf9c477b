// The config schema seen as a plain tree, for everything that walks it: checks, defaults, redaction, docs.
import type { ConfigPath, Segment } from "./path.ts";

export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  /** What applies while the key is unset, in words. */
  readonly fallback?: string;
  readonly sensitive?: boolean;
  readonly place?: "hidden" | "kept";
  /** The part it belongs to does not exist yet: the key has no effect. */
  readonly notBuilt?: boolean;
  /** Nothing below is filled in by default: these keys override others. */
  readonly inherits?: boolean;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  /** Records: one pattern that fits every key. */
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

/** The description people read, with a remark on keys that have no effect yet. */
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

/** Whether a value of this kind could fit the node at all. */
export function takesKind(node: SchemaNode, kind: string): boolean {
  if (node.anyOf !== undefined) return node.anyOf.some((branch) => takesKind(branch, kind));
  if (node.type === undefined) return true;
  return node.type === kind || (node.type === "integer" && kind === "number");
}
