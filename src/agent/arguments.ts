// Parses the arguments of a tool call once; the model reads why invalid ones are rejected.
import { parseStrict } from "../core/strict-json.ts";
import { OpenClawError } from "../core/error.ts";

const MAX_CHARS = 12_000_000;

export type ParsedArguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly problem: string };

export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, value: {} };
  if (text.length > MAX_CHARS)
    return bad(
      `arguments are ${text.length} characters long; at most ${MAX_CHARS} are accepted. Pass large content in a file.`,
    );
  try {
    const value = parseStrict(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { ok: true, value: value as Record<string, unknown> };
    return bad(
      `arguments must be a JSON object, not ${Array.isArray(value) ? "a list" : JSON.stringify(value).slice(0, 40)}`,
    );
  } catch (error) {
    const reason =
      error instanceof OpenClawError ? error.message : "arguments are not valid JSON (cut off or malformed)";
    return bad(`${reason}. They begin: ${JSON.stringify(text.slice(0, 80))}`);
  }
}

function bad(problem: string): ParsedArguments {
  return { ok: false, problem };
}
