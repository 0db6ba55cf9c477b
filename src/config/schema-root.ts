// The config schema as the plain tree that walkers read.
import { ConfigSchema } from "./schema/index.ts";
import type { SchemaNode } from "./schema-node.ts";

/** TypeBox types its schemas by their keys; to those who walk it this is JSON Schema and nothing more. */
export const schemaRoot = ConfigSchema as unknown as SchemaNode;
