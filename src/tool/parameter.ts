// Parameter types that several tools share.
import { Type } from "../core/schema.ts";

/** Text that must hold more than whitespace. The pattern is for the check only; models do not see it. */
export const nonBlank = (description: string) => Type.String({ pattern: "\\S", description });
