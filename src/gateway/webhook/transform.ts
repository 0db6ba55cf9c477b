// Runs transform scripts: only from a folder that agents and other users cannot write, in a thread with a deadline.
import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";

import { errnoOf, OpenClawError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import type { Log } from "../../base/log.ts";
import { expandTilde, type Paths } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { notOwn } from "../../plugin/own-file.ts";
import { callScript } from "../../plugin/script.ts";

export interface TransformContext {
  readonly payload: unknown;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The part after the hooks path. */
  readonly path: string;
}

/** Null when the script returns no action. Rejects with `hook.bad-rule` for every failure of the script. */
export type RunTransform = (
  transform: { readonly module: string; readonly export?: string | undefined },
  context: TransformContext,
) => Promise<Readonly<Record<string, unknown>> | null>;

const DEADLINE_MS = 5000;
const MAX_AT_ONCE = 4;

export interface TransformDeps {
  readonly config: () => Config;
  readonly paths: Paths;
  readonly log: Log;
}

export function createRunTransform({ config, paths, log }: TransformDeps): RunTransform {
  let running = 0;
  return async function runTransform({ module, export: exportName }, context) {
    if (running >= MAX_AT_ONCE)
      throw new OpenClawError("hook.busy", "too many transforms are running", { hint: "send it again in a moment" });
    running += 1;
    try {
      const file = transformFile(module, config(), paths);
      const plan = { file, exportName, what: `transform ${visible(module, 80)}`, log };
      const answer = await callScript(plan, context, DEADLINE_MS);
      if (answer.result === null) return null;
      if (typeof answer.result === "object" && !Array.isArray(answer.result))
        return answer.result as Readonly<Record<string, unknown>>;
      throw bad(module, "it must return an action, or null for no action");
    } catch (error) {
      if (error instanceof OpenClawError && error.code.startsWith("script.")) throw bad(module, error.message);
      throw error;
    } finally {
      running -= 1;
    }
  };
}

/** The script file: inside the folder, not reached through links, writable only by the owner. */
export function transformFile(module: string, config: Config, paths: Paths): string {
  const folder = transformsFolder(config, paths);
  const parts = module.split("/");
  const isPlain =
    parts.every((part) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(part)) && /\.(?:[cm]?js|m?ts)$/.test(module);
  if (isAbsolute(module) || !isPlain)
    throw bad(module, "module must be the name of a .js, .mjs or .ts file below hooks.transformsDir");
  const steps = [folder, ...parts.map((_, index) => join(folder, ...parts.slice(0, index + 1)))];
  for (const step of steps) {
    const why = notOwn(step, step === steps.at(-1) ? "file" : "folder");
    if (why !== undefined)
      throw bad(module, `${step === folder ? "hooks.transformsDir" : step.slice(folder.length + 1)} ${why}`);
  }
  return join(folder, ...parts);
}

/** `hooks/transforms` beside the config by default; always inside the config's folder and outside every workspace. */
function transformsFolder(config: Config, paths: Paths): string {
  const home = realOf(dirname(paths.config));
  const named = config.hooks?.transformsDir;
  const folder = realOf(resolve(home, named === undefined ? "hooks/transforms" : expandTilde(named, paths.home)));
  if (!isBelow(folder, home))
    throw new OpenClawError("hook.bad-rule", `hooks.transformsDir must be inside ${home}`, {
      hint: "openclaw config set hooks.transformsDir hooks/transforms",
    });
  const workspace = agentIds(config)
    .map((id) => realOf(workspaceOf(config, id, paths)))
    .find((place) => folder === place || isBelow(folder, place));
  if (workspace === undefined) return folder;
  throw new OpenClawError("hook.bad-rule", "hooks.transformsDir is in a workspace, where agents can write", {
    hint: "openclaw config set hooks.transformsDir hooks/transforms",
  });
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}${sep}`);

/** The real path, as far as it exists; a part that does not exist cannot be a link. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    return join(realOf(dirname(path)), path.slice(dirname(path).length).replace(/^[/\\]/, ""));
  }
}

function bad(module: string, why: string): OpenClawError {
  return new OpenClawError("hook.bad-rule", `transform ${JSON.stringify(visible(module, 80))}: ${why}`, {
    hint: "check hooks.mappings[].transform and the files in hooks.transformsDir",
  });
}
