// `{{path.to[0].field}}` read from a payload: own properties only, one pass, bounded.

/** All of the result; a payload of the usual size fits several times. */
const MAX_CHARS = 200_000;
const MAX_STEPS = 32;
// Names through which code, not data, is reached; never read, also where a sender put them into the payload itself.
const never: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export const readsPayload = (template: string): boolean => template.includes("{{");

/** A missing value is empty text. Values are inserted once: braces in them are not expanded. */
export function fillTemplate(template: string, payload: unknown): string {
  let left = MAX_CHARS;
  const take = (text: string): string => {
    const taken = text.slice(0, left);
    left -= taken.length;
    return taken;
  };
  return template
    .split(/(\{\{[^{}]{0,400}\}\})/)
    .map((part, index) => take(index % 2 === 0 ? part : wordsOf(valueAt(payload, part.slice(2, -2).trim()))))
    .join("")
    .toWellFormed();
}

/** Undefined for a path that is none, leads nowhere, or through something inherited. */
export function valueAt(payload: unknown, path: string): unknown {
  const steps = stepsOf(path);
  if (steps === undefined) return undefined;
  let value = payload;
  for (const step of steps) {
    if (typeof value !== "object" || value === null || never.has(step) || !Object.hasOwn(value, step)) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

/** `a.b[0].c` as its names; a number may also stand behind a dot. */
function stepsOf(path: string): readonly string[] | undefined {
  if (!/^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d{1,9}\])*$/.test(path)) return undefined;
  const steps = path.split(/\.|\[(\d+)\]/).filter((step) => step !== undefined && step !== "");
  return steps.length > MAX_STEPS ? undefined : steps;
}

function wordsOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
