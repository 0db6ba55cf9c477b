// Parses JSON5 from the command line with the parser of the config.
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { parseText, valueOf } from "../config/json5-text.ts";
import { UsageError } from "./command.ts";

export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

export function parseJson5(text: string): Parsed {
  try {
    const node = parseText(text);
    return node === undefined ? { ok: false, why: "it is empty" } : { ok: true, value: valueOf(text, node) };
  } catch (error) {
    if (error instanceof OpenClawError || error instanceof SyntaxError) return { ok: false, why: error.message };
    throw error;
  }
}

/** Throws UsageError for anything except an object. */
export function parseObject(text: string, what: string): Record<string, unknown> {
  const parsed = parseJson5(text);
  if (!parsed.ok) throw new UsageError(`${what} is not JSON5: ${parsed.why}`);
  if (!isRecord(parsed.value)) throw new UsageError(`${what} must be an object, such as '{limit: 5}'`);
  return parsed.value;
}
