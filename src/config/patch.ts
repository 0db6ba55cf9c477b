// JSON merge patches (objects merge, null removes, everything else replaces) on values and config texts.
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { editText, type Edit } from "./edit.ts";
import { describeIssue } from "./issue.ts";
import { type ConfigPath } from "./path.ts";
import { redacted, restoreRedacted } from "./redact.ts";
import { parseSource } from "./source.ts";

export function mergePatch(current: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = new Map(Object.entries(isRecord(current) ? current : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/**
 * The text with a patch applied, keeping comments and order. `rawPatch` is a JSON5 object. Markers of redacted secrets
 * keep the stored value; a marker without one throws `config.redacted`.
 */
export function patchText(text: string, rawPatch: string): string {
  const given = valueIn("the patch", rawPatch);
  if (!isRecord(given)) throw badPatch("a patch must be an object");
  const current = text.trim() === "" ? {} : valueIn("the config", text);
  const patch = rawPatch.includes(redacted) ? restoreRedacted(given, current) : given;
  return editText(text, patchEdits(current, patch, []));
}

/**
 * The text to save for a complete new config. Forms send strict JSON made from values: it is merged into the existing
 * text, so that comments and order stay. A text written by a person is saved unchanged.
 */
export function overlayText(currentText: string, nextText: string): string {
  const value = strictValue(nextText);
  if (value === undefined || strictValue(currentText) !== undefined) return nextText;
  const current = parseSource("the config", Buffer.from(currentText, "utf8"));
  return "message" in current ? nextText : editText(currentText, [{ path: [], value }]);
}

function patchEdits(current: unknown, patch: unknown, path: ConfigPath): Edit[] {
  if (!isRecord(patch) || !isRecord(current)) return [{ path, value: mergePatch(undefined, patch) }];
  return Object.entries(patch).flatMap(([key, value]): Edit[] => {
    const at = [...path, key];
    if (value === null) return [{ path: at, remove: true }];
    const child = Object.hasOwn(current, key) ? current[key] : undefined;
    return patchEdits(child, value, at);
  });
}

/** The value of a strict JSON object; undefined for anything else. */
export function strictValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function valueIn(name: string, text: string): unknown {
  const source = parseSource(name, Buffer.from(text, "utf8"));
  if ("message" in source) throw badPatch(describeIssue(source));
  return source.value;
}

function badPatch(message: string): OpenClawError {
  return new OpenClawError("config.bad-patch", message, { hint: "write it like { gateway: { port: 18789 } }" });
}
