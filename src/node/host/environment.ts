// The variables a call brings to a node: nothing that steers code, and PATH only with folders in front of the node's own. Pure.
import { isAbsolute } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { rejectVariables } from "../../exec/environment.ts";

export interface CallEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Folders in front of the node's own PATH. */
  readonly prefix: readonly string[];
  /** What was left out, in words. */
  readonly notes: readonly string[];
}

/** `own` is PATH as commands have it here. Throws `exec.rejected-variable`. */
export function callEnvironment(
  given: Readonly<Record<string, string>>,
  own: string,
  platform: NodeJS.Platform,
): CallEnvironment {
  const names = Object.keys(given).filter((name) => name.toUpperCase() === "PATH");
  const env = Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));
  rejectVariables(env, "node");
  if (names.length === 0) return { env, prefix: [], notes: [] };
  if (platform === "darwin")
    return { env, prefix: [], notes: ["env.PATH was left out: on macOS a node keeps its own PATH."] };
  const [name = ""] = names;
  if (names.length > 1 || name !== "PATH") throw refused(`env.${name} may not be set: write it once, as PATH`);
  return { env, prefix: prefixOf(given["PATH"] ?? "", own), notes: [] };
}

/** The part in front; the rest must be the node's own PATH to the letter. */
function prefixOf(wanted: string, own: string): readonly string[] {
  if (wanted === own) return [];
  if (!wanted.endsWith(`:${own}`))
    throw refused("env.PATH would replace the PATH of this node; it may only put folders in front of it");
  const prefix = wanted.slice(0, -own.length - 1).split(":");
  const odd = prefix.find((folder) => !isAbsolute(folder) || folder.includes("\0"));
  if (odd !== undefined) throw refused("env.PATH may only put absolute folders in front");
  return prefix;
}

function refused(message: string): OpenClawError {
  return new OpenClawError("exec.rejected-variable", `${message} (host=node)`, {
    hint: "send <folders>:<pathEnv of the node, as openclaw gateway call node.list shows it>, or leave PATH out",
  });
}
