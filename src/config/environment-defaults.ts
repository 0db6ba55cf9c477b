// Environment variables that override defaults of the schema, under their published names. Values of the file win.
import type { Env } from "../base/paths.ts";
import { wholeNumberOf } from "../base/whole-number.ts";
import { hasAt, setAt } from "./path.ts";

const variables = [
  { name: "PI_BASH_YIELD_MS", path: ["tools", "exec", "backgroundMs"], least: 10, most: 120_000 },
  { name: "PI_BASH_JOB_TTL_MS", path: ["tools", "exec", "cleanupMs"], least: 60_000, most: 10_800_000 },
] as const;

/** `filled` is the file with the defaults of the schema. */
export function withEnvironment(filled: unknown, parsed: unknown, env: Env): unknown {
  return variables.reduce<unknown>((value, { name, path, least, most }) => {
    const given = hasAt(parsed, path) ? undefined : wholeNumberOf(env[name], least, most);
    return given === undefined ? value : setAt(value, path, given);
  }, filled);
}
