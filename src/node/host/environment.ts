// Checks the variables of a call on a node: none that control code, and PATH only with folders added in front. Pure.
import { isAbsolute } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { rejectVariables } from "../../exec/environment.ts";

export interface CallEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Folders added before the node's own PATH. */
  readonly prefix: readonly string[];
  /** Notes about ignored variables. */
  readonly notes: readonly string[];
}

/** `own` is the PATH of commands on this node. Throws `exec.rejected-variable`. */
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
    return { env, prefix: [], notes: ["env.PATH was ignored: a node on macOS keeps its own PATH."] };
  const [name = ""] = names;
  if (names.length > 1 || name !== "PATH") throw refused(`env.${name} cannot be set: write it once, as PATH`);
  return { env, prefix: prefixOf(given["PATH"] ?? "", own), notes: [] };
}

/** The folders in front; the rest must equal the node's own PATH. */
function prefixOf(wanted: string, own: string): readonly string[] {
  if (wanted === own) return [];
  if (!wanted.endsWith(`:${own}`))
    throw refused("env.PATH would replace the PATH of this node; it can only add folders in front");
  const prefix = wanted.slice(0, -own.length - 1).split(":");
  const odd = prefix.find((folder) => !isAbsolute(folder) || folder.includes("\0"));
  if (odd !== undefined) throw refused("env.PATH can only add absolute folders in front");
  return prefix;
}

function refused(message: string): OpenClawError {
  return new OpenClawError("exec.rejected-variable", `${message} (host=node)`, {
    hint: "send <folders>:<pathEnv of the node, as openclaw gateway call node.list shows it>, or omit PATH",
  });
}
