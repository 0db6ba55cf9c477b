// The whole config tree as one schema. (Placeholder shape until the tree lands beside it.)
import { Type, type Static } from "../../core/schema.ts";

export const ConfigSchema = Type.Object({}, { additionalProperties: true });
export type Config = Static<typeof ConfigSchema> & Record<string, unknown>;
