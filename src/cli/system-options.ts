// Options of every `openclaw system` command.
import type { Options } from "./command.ts";
import { wireOptions } from "./target.ts";

export const systemOptions = {
  ...wireOptions,
  "expect-final": { type: "boolean", description: "Understood for older scripts; these commands answer once." },
} as const satisfies Options;
