// Changes the config: edits the text, validates the result, writes it, and reports what a running gateway does with it.
import { OpenClawError } from "../core/error.ts";
import type { Env, Paths } from "../base/paths.ts";
import { editText, type Edit } from "./edit.ts";
import { parseText, valueOf } from "./json5-text.ts";
import { loadConfig, type LoadedConfig } from "./load.ts";
import { formatPath, hasAt, parsePath } from "./path.ts";
import { planReload } from "./reload.ts";
import { writeConfig } from "./write.ts";

export interface ChangeTarget {
  readonly paths: Paths;
  readonly env: Env;
}

export interface ChangeOptions {
  /** Hash of the text the change was made for; by default the one on disk now. */
  readonly baseHash?: string | undefined;
  /** Allows a config that was invalid before to stay so, as long as the change adds no issue. */
  readonly stepwise?: boolean;
  /** Validates only, without writing. */
  readonly check?: boolean;
}

export interface ConfigChange {
  /** False when the file already has this text. */
  readonly changed: boolean;
  readonly before: LoadedConfig;
  readonly after: LoadedConfig;
  readonly effect: ChangeEffect;
}

/** What a running gateway does with a change. */
export type ChangeEffect = "at-once" | "restarts" | "restart-needed";

/**
 * Writes the first of the candidate texts that is valid. Throws as `writeConfig` does; for several invalid candidates
 * the error is about the first.
 */
export function changeConfig(
  { paths, env }: ChangeTarget,
  candidatesFor: (before: LoadedConfig) => string | readonly string[],
  { baseHash, ...options }: ChangeOptions = {},
): ConfigChange {
  const before = loadConfig({ paths, env });
  const texts = [candidatesFor(before)].flat();
  const write = (nextText: string, check = false): ConfigChange => {
    const base = baseHash ?? before.hash;
    const { changed, loaded } = writeConfig({
      paths,
      env,
      nextText,
      baseHash: base,
      ...options,
      ...(check ? { check } : {}),
    });
    return { changed, before, after: loaded, effect: effectOf(before, loaded) };
  };
  const [first = before.raw] = texts;
  return write(texts.find((text) => texts.length > 1 && isValid(() => write(text, true))) ?? first);
}

function isValid(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof OpenClawError && error.code === "config.invalid") return false;
    throw error;
  }
}

/** Applies all edits or none. */
export function editConfig(
  target: ChangeTarget,
  plan: (before: LoadedConfig) => readonly Edit[],
  options?: ChangeOptions,
): ConfigChange {
  return changeConfig(target, (before) => editText(before.raw, plan(before)), options);
}

export type KeyEdit = { readonly values: readonly unknown[] } | { readonly remove: true };

/** Sets one key to the first value that is valid there, or removes it. Throws `config.not-found` for a key that is not set. */
export function changeKey(
  target: ChangeTarget,
  path: string,
  edit: KeyEdit,
  options?: ChangeOptions,
): ConfigChange & { readonly path: string } {
  const at = parsePath(path);
  const name = formatPath(at);
  const change = changeConfig(
    target,
    (before) => {
      if ("values" in edit) return edit.values.map((value) => editText(before.raw, [{ path: at, value }]));
      if (!hasAt(before.parsed, at))
        throw new OpenClawError("config.not-found", `Config path not found: ${name}`, { hint: "openclaw config get" });
      return editText(before.raw, [{ path: at, remove: true }]);
    },
    options,
  );
  return { ...change, path: name };
}

/** JSON5 when it parses, and also the text itself: a key that takes text may be given a number. */
export function readingsOf(text: string): readonly unknown[] {
  try {
    const node = parseText(text);
    if (node === undefined) return [text];
    const value = valueOf(text, node);
    return typeof value === "string" ? [value] : [value, text];
  } catch (error) {
    if (error instanceof OpenClawError || error instanceof SyntaxError) return [text];
    throw error;
  }
}

function effectOf(before: LoadedConfig, after: LoadedConfig): ChangeEffect {
  // A running gateway cannot have an invalid config: it uses an older one, and compares with that.
  if (!before.valid) return "restart-needed";
  const { restart, ignored } = planReload(before.config, after.config, before.config.gateway?.reload?.mode ?? "hybrid");
  if (restart.length > 0) return "restarts";
  return ignored.length > 0 ? "restart-needed" : "at-once";
}

export const effectText: Readonly<Record<ChangeEffect, string>> = {
  "at-once": "Applied immediately.",
  restarts: "The gateway restarts to apply it.",
  "restart-needed": "It applies after a restart: openclaw gateway restart",
};
