// Makes untrusted text safe to print: bounded, quoted, wrapped, without invisible characters.

/** The widest line we print. */
export const lineWidth = 110;

export function quote(text: string, most = 48): string {
  return jsonText(short(text, most));
}

export function short(text: string, most = 48): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** The end of a path says more than its beginning. */
export function shortEnd(text: string, most: number): string {
  return text.length <= most ? text : `…${text.slice(1 - most).toWellFormed()}`;
}

/** JSON with every character visible that parses to the same value. */
export function jsonText(value: string | readonly string[]): string {
  return visible(JSON.stringify(value));
}

/** Control, format and line-breaking characters as JSON escapes: a terminal must not interpret list content. */
export function visible(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** Lines of at most `lineWidth` after `indent`; the first one after `lead`. Words too long for a line are split. */
export function wrapped(text: string, lead: string, indent = " ".repeat(lead.length)): string[] {
  const lines: string[] = [];
  let line = lead;
  let empty = true;
  for (const word of visible(text).split(" ")) {
    const piece = short(word, lineWidth - Math.max(lead.length, indent.length));
    if (!empty && line.length + 1 + piece.length > lineWidth) {
      lines.push(line);
      [line, empty] = [indent, true];
    }
    line = empty ? `${line}${piece}` : `${line} ${piece}`;
    empty = false;
  }
  return [...lines, line].map((done) => done.trimEnd());
}
