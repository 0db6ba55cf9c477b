// Config changes from the command line: writes them through config/change.ts and prints what changed and when it applies.
import { readLockOwner, stateLockOf } from "../base/lock.ts";
import * as config from "../config/change.ts";
import type { Edit } from "../config/edit.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Io } from "./io.ts";
import { shortPath, toJson } from "./print.ts";
import { describe } from "./settings.ts";

/** A change and the path that names it for people and programs. */
export interface NamedChange extends config.ConfigChange {
  readonly path: string;
}

export const targetOf = (io: Io): config.ChangeTarget => ({ paths: io.paths(), env: io.env });

/** Several edits as one: all of them or none. A config that was invalid before may stay so, but not get worse. */
export function editConfig(io: Io, path: string, plan: (before: LoadedConfig) => readonly Edit[]): NamedChange {
  return { ...config.editConfig(targetOf(io), plan, { stepwise: true }), path };
}

export function reportChange(io: Io, { changed, path, effect, after }: NamedChange, text: string): void {
  const isRunning = readLockOwner(stateLockOf(io.paths().state))?.port !== undefined;
  const applies = changed && after.valid;
  if (io.json) {
    io.print(
      toJson({
        ok: true,
        changed,
        path,
        file: after.path,
        valid: after.valid,
        issues: after.issues,
        ...(applies ? { effect: isRunning ? effect : "next-start" } : {}),
      }),
    );
    return;
  }
  io.print(`${text} (${shortPath(after.path, io)})`);
  if (!after.valid)
    io.say(
      [
        io.paintError.warn("the config is still not valid:"),
        ...after.issues.slice(0, 8).map((issue) => `  ${describe(issue, io)}`),
      ].join("\n"),
    );
  else if (applies)
    io.say(isRunning ? config.effectText[effect] : "No gateway is running here; it applies at the next start.");
}
