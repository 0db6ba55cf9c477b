// Finds config keys of features that are not built yet (docs/decisions/0037-config-keys-of-parts-not-built.md).
import { isRecord } from "../core/record.ts";
import { formatPath, type ConfigPath } from "./path.ts";
import { schemaRoot } from "./schema-root.ts";
import { childSchema, type SchemaNode } from "./schema-node.ts";

/** The topmost paths only: an unbuilt section is named once. */
export function notBuiltKeys(parsed: unknown): string[] {
  return find(schemaRoot, parsed, []);
}

function find(node: SchemaNode, value: unknown, path: ConfigPath): string[] {
  if (node.notBuilt === true) return [formatPath(path)];
  const branches = node.anyOf ?? [node];
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      findFirst(
        branches.map(({ items }) => items),
        item,
        [...path, index],
      ),
    );
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    findFirst(
      branches.map((branch) => childSchema(branch, key)),
      child,
      [...path, key],
    ),
  );
}

function findFirst(nodes: readonly (SchemaNode | undefined)[], value: unknown, path: ConfigPath): string[] {
  const node = nodes.find((candidate) => candidate !== undefined);
  return node === undefined ? [] : find(node, value, path);
}
