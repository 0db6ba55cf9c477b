// One key of the config changed by a person: read as JSON5, else as text; checked, then written with its comments kept.
import { OpenClawError } from "../../core/error.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { editText } from "../../config/edit.ts";
import { parseText, valueOf } from "../../config/json5-text.ts";
import { loadConfig } from "../../config/load.ts";
import { formatPath, hasAt, parsePath } from "../../config/path.ts";
import { planReload } from "../../config/reload.ts";
import { writeConfig } from "../../config/write.ts";
import type { AdminAnswer } from "../../tool/admin.ts";
import type { LiveSettings } from "../settings.ts";

export interface EditContext {
  readonly paths: Paths;
  readonly env: Env;
  readonly settings: LiveSettings;
}

export function editKey(
  { paths, env, settings }: EditContext,
  written: string,
  wish: { readonly text: string } | { readonly remove: true },
): AdminAnswer {
  const path = parsePath(written);
  const name = formatPath(path);
  const before = settings.read();
  if ("remove" in wish && !hasAt(before.parsed, path))
    throw new OpenClawError("config.no-path", `Config path not found: ${name}`);
  const texts =
    "remove" in wish
      ? [editText(before.raw, [{ path, remove: true }])]
      : valuesOf(wish.text).map((value) => editText(before.raw, [{ path, value }]));
  const [first = before.raw] = texts;
  const nextText = texts.find((text) => loadConfig({ paths, env, text }).valid) ?? first;
  const { changed, loaded } = writeConfig({ paths, env, nextText, baseHash: before.hash });
  const done = "remove" in wish ? `${name} removed` : `${name} set`;
  const mode = before.config.gateway?.reload?.mode ?? "hybrid";
  const { restart, ignored } = planReload(before.config, loaded.config, mode);
  const effect =
    restart.length > 0
      ? "The gateway restarts to take it over."
      : ignored.length > 0
        ? "It holds after a restart."
        : "It holds at once.";
  return {
    text: changed ? `${done}. ${effect}` : `${name} has that value already.`,
    details: { path: name, changed, hash: loaded.hash },
  };
}

/** A number may be meant as text where the key takes text: both readings, the likelier first. */
export function valuesOf(text: string): readonly unknown[] {
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
