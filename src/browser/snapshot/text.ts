// Page text in one line of a snapshot: quoted, without control characters and bounded, so that it cannot forge a line.

const MAX_TEXT = 600;
// Control characters, line separators, and marks that reorder or hide text.
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/g;

export function quote(text: string, max = MAX_TEXT): string {
  return `"${plain(text, max).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** One line, with the number of characters that were cut. */
export function plain(text: string, max = MAX_TEXT): string {
  const head = text.length > max ? text.slice(0, max) : text;
  const clean = head.replace(UNSAFE, " ").trim();
  return text.length > max ? `${clean}… (${text.length - max} more characters)` : clean;
}
