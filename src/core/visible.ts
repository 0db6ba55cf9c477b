// Makes names and paths safe to show: invisible and direction-changing characters are escaped.

// Control and format characters (bidi overrides, zero width), line and paragraph separators, invisible fillers. The two
// joiners are kept: emoji and Persian names need them.
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** One well-formed line of at most `maxChars`. `a\u202eb` becomes the visible text `a\u{202e}b`. */
export function visible(name: string, maxChars = 300): string {
  const spelled = name.toWellFormed().replace(unseen, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "fffd"}}`);
  if (spelled.length <= maxChars) return spelled;
  return `${spelled.slice(0, maxChars).toWellFormed()}… (${spelled.length} characters)`;
}

/** The name without those characters. */
export function withoutUnseen(name: string): string {
  return name.replace(unseen, "");
}

// Characters that are invisible or look like a space, which a shell and a person would read differently. Only the
// ordinary space and the line feed are kept.
const unlike = /(?![ \n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const emptyLines = /\n(?: *\n){2,}/g;

/** The whole text for a decision: nothing is cut and line breaks are kept, but long runs of empty lines are shortened. */
export function spelledOut(text: string): string {
  return text
    .replace(unlike, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "fffd"}}`)
    .replace(emptyLines, (run) => `\n${run.slice(1, -1).replaceAll("\n", "\\u{a}")}\n`);
}
