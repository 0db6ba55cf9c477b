// The config schema as a plain tree.
import { ConfigSchema } from "./schema/index.ts";
import type { SchemaNode } from "./schema-node.ts";

/** TypeBox types its schemas by their keys; code that walks the tree needs only JSON Schema. */
export const schemaRoot = ConfigSchema as SchemaNode;
