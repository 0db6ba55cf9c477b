// Makes names and paths safe to show: invisible and direction-changing characters are escaped.

// Controls, format characters (bidi overrides, zero width), line and paragraph separators, fillers that look like nothing.
// The two joiners stay: emoji and Persian names need them.
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** One line, well formed, at most `maxChars` long. `a\u202eb` comes out as the eight characters `a\u{202e}b` say it is. */
export function visible(name: string, maxChars = 300): string {
  const spelled = name.toWellFormed().replace(unseen, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "fffd"}}`);
  if (spelled.length <= maxChars) return spelled;
  return `${spelled.slice(0, maxChars).toWellFormed()}… (${spelled.length} characters)`;
}

/** The name without those characters. */
export function withoutUnseen(name: string): string {
  return name.replace(unseen, "");
}

// Everything that draws nothing or draws like a blank: what a shell and a person would read differently. Only the plain
// space and the line feed are what they look like.
const unlike = /(?![ \n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const emptyLines = /\n(?: *\n){2,}/g;

/** Whole text for a decision: nothing is cut, lines stay lines, but a run of empty ones cannot push the rest out of sight. */
export function spelledOut(text: string): string {
  return text
    .replace(unlike, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "fffd"}}`)
    .replace(emptyLines, (run) => `\n${run.slice(1, -1).replaceAll("\n", "\\u{a}")}\n`);
}
