// One edit of the config file from the command line, and what it means for a gateway that runs.
import { OpenClawError } from "../core/error.ts";
import { readLockOwner, stateLockOf } from "../base/lock.ts";
import { editText, type Edit } from "../config/edit.ts";
import type { ConfigIssue } from "../config/issue.ts";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import { formatPath, parsePath } from "../config/path.ts";
import { writeConfig } from "../config/write.ts";
import type { Io } from "./io.ts";
import { shortPath, toJson } from "./print.ts";
import { describe } from "./settings.ts";

export type Request = { readonly value: unknown } | { readonly remove: true };

export interface Change {
  readonly changed: boolean;
  readonly path: string;
  readonly before: LoadedConfig;
  readonly after: LoadedConfig;
}

/** Writes the first wish that leaves the config valid; a file that was broken before may stay so, but not get worse. */
export async function changeConfig(io: Io, path: string, wishes: readonly Request[]): Promise<Change> {
  const paths = io.paths();
  const segments = parsePath(path);
  const before = loadConfig({ paths, env: io.env });
  const texts = wishes.map((wish) =>
    editText(before.raw, ["remove" in wish ? { path: segments, remove: true } : { path: segments, value: wish.value }]),
  );
  const fitting = texts.find((text) => addedBy(text, before, io).length === 0);
  const [first = before.raw] = texts;
  if (fitting === undefined) throw refused(addedBy(first, before, io), io);
  return write(io, before, fitting, formatPath(segments));
}

/** Several edits as one: all of them or none. `path` names the change for people and programs. */
export async function editConfig(
  io: Io,
  path: string,
  plan: (before: LoadedConfig) => readonly Edit[],
): Promise<Change> {
  const before = loadConfig({ paths: io.paths(), env: io.env });
  const text = editText(before.raw, plan(before));
  const added = addedBy(text, before, io);
  if (added.length > 0) throw refused(added, io);
  return write(io, before, text, path);
}

function write(io: Io, before: LoadedConfig, nextText: string, path: string): Change {
  const { changed, loaded } = writeConfig({
    paths: io.paths(),
    env: io.env,
    nextText,
    stepwise: true,
    ...(before.exists ? { baseHash: before.hash } : {}),
  });
  return { changed, path, before, after: loaded };
}

function addedBy(text: string, before: LoadedConfig, io: Io): readonly ConfigIssue[] {
  const known = new Set(before.issues.map(({ path, message }) => `${path}: ${message}`));
  return loadConfig({ paths: io.paths(), env: io.env, text }).issues.filter(
    ({ path, message }) => !known.has(`${path}: ${message}`),
  );
}

function refused(issues: readonly ConfigIssue[], io: Io): OpenClawError {
  const shown = issues
    .slice(0, 8)
    .map(({ file: _file, line: _line, column: _column, ...issue }) => `  ${describe(issue, io)}`);
  return new OpenClawError(
    "config.invalid",
    ["nothing was written, the config would not be valid:", ...shown].join("\n"),
    {
      hint: "openclaw config schema shows what each key takes",
      details: { issues },
    },
  );
}

/** Says what was done, what is still wrong, and when it takes effect. */
export async function reportChange(io: Io, { changed, path, before, after }: Change, words: string): Promise<void> {
  const effect = changed && after.valid ? await effectOf(io, before, after) : undefined;
  if (io.json) {
    io.print(
      toJson({
        ok: true,
        changed,
        path,
        file: after.path,
        valid: after.valid,
        issues: after.issues,
        ...(effect === undefined ? {} : { effect: effect.kind }),
      }),
    );
    return;
  }
  io.print(`${words} (${shortPath(after.path, io)})`);
  if (!after.valid)
    io.say(
      [
        io.paintError.warn("the config is still not valid:"),
        ...after.issues.slice(0, 8).map((issue) => `  ${describe(issue, io)}`),
      ].join("\n"),
    );
  else if (effect !== undefined) io.say(effect.words);
}

interface Effect {
  readonly kind: "next-start" | "at-once" | "restarts" | "restart-needed";
  readonly words: string;
}

async function effectOf(io: Io, before: LoadedConfig, after: LoadedConfig): Promise<Effect> {
  const runs = readLockOwner(stateLockOf(io.paths().state))?.port !== undefined;
  if (!runs) return { kind: "next-start", words: "No gateway runs here; it holds from the next start." };
  const { planReload } = await import("../config/reload.ts");
  const { restart, ignored } = planReload(before.config, after.config, before.config.gateway?.reload?.mode ?? "hybrid");
  if (before.valid && restart.length > 0)
    return { kind: "restarts", words: "The running gateway restarts by itself to take it over." };
  if (!before.valid || ignored.length > 0)
    return { kind: "restart-needed", words: "It holds after a restart: openclaw gateway restart" };
  return { kind: "at-once", words: "The running gateway takes it over at once." };
}
