// Reads one config value without building the schema, for commands that must start fast.
import type { Env, Paths } from "../base/paths.ts";
import { OpenClawError } from "../core/error.ts";
import { describeIssue } from "./issue.ts";
import { readParts } from "./parts.ts";
import { getAt, hasAt, parsePath } from "./path.ts";

export interface Peek {
  readonly found: boolean;
  readonly value: unknown;
  /** Whether the value comes from the file or from a default. */
  readonly from: "file" | "default" | "none";
}

/**
 * The value of the file; otherwise the default, for which the schema is loaded. Throws `config.invalid` for an
 * unreadable file.
 */
export async function peekConfig(
  { paths, env }: { readonly paths: Paths; readonly env: Env },
  path: string,
): Promise<Peek> {
  const segments = parsePath(path);
  const { parsed, issues } = readParts({ paths, env });
  const first = issues[0];
  if (first !== undefined) {
    throw new OpenClawError("config.invalid", describeIssue(first), {
      hint: "openclaw config validate",
      details: { issues },
    });
  }
  if (hasAt(parsed, segments)) return { found: true, value: getAt(parsed, segments), from: "file" };
  const [{ withDefaults }, { withEnvironment }, { schemaRoot }] = await Promise.all([
    import("./defaults.ts"),
    import("./environment-defaults.ts"),
    import("./schema-root.ts"),
  ]);
  const value = getAt(withEnvironment(withDefaults(schemaRoot, parsed), parsed, env), segments);
  return value === undefined ? { found: false, value, from: "none" } : { found: true, value, from: "default" };
}
