// What a hook requires of the machine and the config, and which of it is missing.
import { delimiter } from "node:path";

import type { Env } from "../../base/paths.ts";
import { getAt, parsePath } from "../../config/path.ts";
import type { Config } from "../../config/schema/index.ts";
import { findProgram } from "../../exec/find-program.ts";
import type { Requirements } from "./hook.ts";

export interface RequirementsContext {
  readonly config: Config;
  readonly env: Env;
}

/** One text per missing requirement. */
export function missingOf({ bins, anyBins, env, config, os }: Requirements, context: RequirementsContext): string[] {
  const folders = (context.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const has = (bin: string): boolean => /^[\w.+-]+$/.test(bin) && findProgram(bin, folders) !== undefined;
  // A workspace always exists.
  const isSet = (path: string): boolean => path === "workspace.dir" || Boolean(getAt(context.config, parsePath(path)));
  return [
    ...(os.length === 0 || os.includes(process.platform) ? [] : [`system ${os.join(" or ")}`]),
    ...bins.filter((bin) => !has(bin)).map((bin) => `program ${bin}`),
    ...(anyBins.length === 0 || anyBins.some(has) ? [] : [`one of the programs ${anyBins.join(", ")}`]),
    ...env.filter((name) => !context.env[name]).map((name) => `environment ${name}`),
    ...config.filter((path) => !isSet(path)).map((path) => `config ${path}`),
  ];
}
