// The config as shown to a client, and the text to save when the client sends it back with changes.
import { isDeepStrictEqual } from "node:util";

import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { editText } from "./edit.ts";
import type { LoadedConfig } from "./load.ts";
import { overlayText, strictValue } from "./patch.ts";
import { formatPath, getAt, hasAt, parsePath, setAt, type ConfigPath } from "./path.ts";
import {
  matchingIndex,
  redactConfig,
  redactRaw,
  requireNoMarkers,
  restoreRedactedText,
  secretsBeside,
  secretsOfEnv,
} from "./redact.ts";
import { parseSource } from "./source.ts";

/** Published clients expect these defaults; any other default would be written to the file by the first save. */
const shownDefaults = [
  "logging.redactSensitive",
  "agents.defaults.maxConcurrent",
  "agents.defaults.subagents.maxConcurrent",
  "commands.native",
  "commands.nativeSkills",
  "messages.ackReactionScope",
].map(parsePath);

/** The set values, with includes and variables resolved, plus a few defaults; secrets are redacted. */
export function shownConfig({ parsed, config, env }: Pick<LoadedConfig, "parsed" | "config" | "env">): unknown {
  const set = isRecord(parsed) ? parsed : {};
  return redactConfig(
    shownDefaults.reduce<unknown>((value, path) => {
      const missing =
        !hasAt(value, path) && path.slice(0, -1).every((_, depth) => isOpen(value, path.slice(0, depth + 1)));
      return missing && hasAt(config, path) ? setAt(value, path, getAt(config, path)) : value;
    }, set),
    secretsOfEnv(env),
  );
}

/** Whether keys can be added below: an invalid file may have any value there. */
function isOpen(value: unknown, path: ConfigPath): boolean {
  return !hasAt(value, path) || isRecord(getAt(value, path));
}

/**
 * The text to write for a complete config from a client. Values that the client got from us change only where they
 * differ: comments, order, unknown keys, references, includes and redacted secrets stay as written. Any other text is
 * saved unchanged. Throws `config.redacted` for a marker without a stored value, `config.included` for the removal of a
 * key of another file.
 */
export function savedText(current: LoadedConfig, sentText: string): string {
  const { raw, parsed } = current;
  const sent = strictValue(sentText);
  const written = valueIn(raw);
  const text = valueIn(redactRaw(raw, secretsBeside(parsed, current.env)));
  if (sent !== undefined && written !== undefined && !isDeepStrictEqual(sent, text)) {
    const [nearest] = [shownConfig(current), redactConfig(parsed, secretsOfEnv(current.env))]
      .map((shown) => ({ shown, distance: differences(shown, sent) }))
      .toSorted((a, b) => a.distance - b.distance);
    const distance = differences(text, sent) + (isMachineWritten(sentText, sent) ? 1 : 0);
    if (nearest !== undefined && nearest.distance < distance)
      return editText(raw, [{ path: [], value: rebase({ written, shown: nearest.shown, sent, path: [] }, current) }]);
  }
  return overlayText(raw, restoreRedactedText(sentText, raw));
}

/** Forms print values; other line breaks and indentation show that a person edited the text. */
function isMachineWritten(text: string, value: unknown): boolean {
  return text.trim() === JSON.stringify(value, null, 2) || text.trim() === JSON.stringify(value);
}

interface Place {
  readonly written: unknown;
  readonly shown: unknown;
  readonly sent: unknown;
  readonly path: ConfigPath;
}

/** The value to write here so that the result equals the sent value. */
function rebase(place: Place, current: LoadedConfig): unknown {
  const { written, shown, sent, path } = place;
  if (isDeepStrictEqual(shown, sent)) return written;
  if (isRecord(shown) && isRecord(sent)) return rebaseObject({ ...place, shown, sent }, current);
  if (Array.isArray(shown) && Array.isArray(sent) && Array.isArray(written) && written.length === shown.length)
    return sent.map((item: unknown, index): unknown => {
      const at = matchingIndex(sent, shown, index);
      if (at === undefined) return requireNoMarkers(item, [...path, index]);
      return rebase({ written: written[at], shown: shown[at], sent: item, path: [...path, index] }, current);
    });
  return requireNoMarkers(sent, path);
}

function rebaseObject(
  { written, shown, sent, path }: Place & { readonly shown: object; readonly sent: object },
  current: LoadedConfig,
): unknown {
  const before = isRecord(written) ? written : {};
  for (const key of Object.keys(shown).filter((name) => !Object.hasOwn(sent, name)))
    if (!Object.hasOwn(before, key)) refuseIncluded([...path, key], current);
  const kept = Object.entries(before).filter(([key]) => !Object.hasOwn(shown, key) || Object.hasOwn(sent, key));
  const after = new Map<string, unknown>(kept);
  for (const [key, value] of Object.entries(sent)) {
    const at = [...path, key];
    const next = Object.hasOwn(shown, key)
      ? rebase({ written: getAt(before, [key]), shown: getAt(shown, [key]), sent: value, path: at }, current)
      : requireNoMarkers(value, at);
    if (next !== undefined) after.set(key, next);
  }
  return after.size === 0 && written === undefined ? undefined : Object.fromEntries(after);
}

/** The main file cannot remove a key of another file. A removed default stays the default. */
function refuseIncluded(path: ConfigPath, current: LoadedConfig): void {
  const place = current.locate(formatPath(path));
  if (place === undefined) return;
  throw new OpenClawError("config.included", `not saved: ${formatPath(path)} is set in ${place.file}`, {
    hint: `remove it in ${place.file}`,
  });
}

/** Number of different values. */
function differences(a: unknown, b: unknown): number {
  if (isDeepStrictEqual(a, b)) return 0;
  if (!isRecord(a) && !Array.isArray(a)) return Math.max(1, isRecord(b) || Array.isArray(b) ? leaves(b) : 1);
  if (!isRecord(b) && !Array.isArray(b)) return Math.max(1, leaves(a));
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].reduce((sum, key) => sum + differences(left[key], right[key]), 0);
}

function leaves(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, child: unknown) => sum + leaves(child), 0);
}

function valueIn(text: string): unknown {
  const source = parseSource("the config", Buffer.from(text, "utf8"));
  return "value" in source && isRecord(source.value) ? source.value : undefined;
}
