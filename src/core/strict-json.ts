// Parses untrusted JSON: rejects deep nesting and duplicate keys.
import { OpenClawError } from "./error.ts";

const MAX_DEPTH = 100;

/** Throws SyntaxError for text that is not JSON, OpenClawError `json.too-deep` / `json.duplicate-key` for JSON that is ambiguous. */
export function parseStrict(text: string): unknown {
  scan(text);
  return JSON.parse(text) as unknown;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const COMMA = 44;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [123, 125, 91, 93];

/** One pass over the characters; malformed text is left to JSON.parse. */
function scan(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let key: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      key = open.length > 0 && open[open.length - 1] !== undefined ? text.slice(at + 1, end) : undefined;
      at = end;
    } else if (code === COLON && key !== undefined) {
      remember(open[open.length - 1], key);
      key = undefined;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (open.push(code === OPEN_OBJECT ? new Set() : undefined) > MAX_DEPTH)
        throw new OpenClawError("json.too-deep", `JSON is nested deeper than ${MAX_DEPTH} levels`);
      key = undefined;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) open.pop();
    else if (code === COMMA) key = undefined;
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

function remember(keys: Set<string> | undefined, raw: string): void {
  if (keys === undefined) return;
  const key = raw.includes("\\") ? unescape(raw) : raw;
  if (keys.has(key))
    throw new OpenClawError(
      "json.duplicate-key",
      `JSON has the key ${JSON.stringify(key.slice(0, 40))} twice in one object`,
    );
  keys.add(key);
}

/** Decodes escapes, which could hide that two keys are equal. */
function unescape(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw; // malformed escape: JSON.parse of the whole text reports it
  }
}
