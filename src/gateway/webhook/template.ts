// Fills `{{path.to[0].field}}` from a payload: own properties only, one pass, limited size.

/** Limit of the whole result; a payload of normal size fits several times. */
const MAX_CHARS = 200_000;
const MAX_STEPS = 32;
// Names that lead to code instead of data; never read, even if the payload contains them.
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

/** Undefined for a path that is invalid, does not exist, or is inherited. */
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

/** The names in `a.b[0].c`; a number may also follow a dot. */
function stepsOf(path: string): readonly string[] | undefined {
  if (!/^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d{1,9}\])*$/.test(path)) return undefined;
  const steps = path.split(/\.|\[(\d+)\]/).filter((step) => step !== undefined && step !== "");
  return steps.length > MAX_STEPS ? undefined : steps;
}

function wordsOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
