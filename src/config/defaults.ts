// Fills the defaults of the schema into a valid value.
import { isRecord } from "../core/record.ts";
import { childSchema, kindOf, takesKind, type SchemaNode } from "./schema-node.ts";

/** A copy with every missing default; set values are kept. Override sections get no defaults. */
export function withDefaults(node: SchemaNode, value: unknown): unknown {
  if (node.inherits === true) return value;
  const filled = value === undefined ? structuredClone(node.default) : value;
  const branch = node.anyOf?.find((one) => takesKind(one, kindOf(filled))) ?? node;
  if (branch !== node && branch.anyOf === undefined) return withDefaults({ ...branch, default: undefined }, filled);
  if (Array.isArray(filled))
    return branch.items === undefined ? filled : filled.map((item) => withDefaults(branch.items ?? {}, item));
  return isRecord(filled) ? fillObject(branch, filled) : filled;
}

function fillObject(node: SchemaNode, value: Record<string, unknown>): Record<string, unknown> {
  const present = Object.entries(value).map(([key, child]): [string, unknown] => {
    const schema = childSchema(node, key);
    return [key, schema === undefined ? child : withDefaults(schema, child)];
  });
  const absent = Object.entries(node.properties ?? {}).flatMap(([key, schema]): [string, unknown][] => {
    if (Object.hasOwn(value, key)) return [];
    const filled = withDefaults(schema, undefined);
    return filled === undefined ? [] : [[key, filled]];
  });
  return Object.fromEntries([...present, ...absent]);
}
