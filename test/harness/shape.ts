// The shape of an answer: its keys and the types of its values, to be compared with what was recorded.

/** Lists are shown by their first item; an empty one as `[]`. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, shapeOf(child)]));
}
