// Splits a file into lines and finds a run of lines in it: exactly, or with less and less regard to whitespace.

/** Lines are stored byte for byte (as Latin-1), so that what a patch does not touch stays unchanged, also broken text. */
export interface FileLines {
  readonly raw: readonly string[];
  /** The end of each line; empty for a last line without one. */
  readonly ends: readonly string[];
  readonly bom: string;
  /** The line end of most lines. */
  readonly eol: "\n" | "\r\n" | "\r";
  /** The lines as each level compares them, created on first use. */
  seen(level: number): readonly string[];
}

const BOM = "\u00ef\u00bb\u00bf";

export function splitLines(bytes: Buffer): FileLines {
  const all = bytes.toString("latin1");
  const bom = all.startsWith(BOM) ? BOM : "";
  const body = all.slice(bom.length);
  // Without any LF, lines end with CR.
  const isCrOnly = !body.includes("\n") && body.includes("\r");
  const pieces = body.split(isCrOnly ? "\r" : "\n");
  const last = pieces.pop() ?? "";
  const lines = pieces.map((piece) => (piece.endsWith("\r") ? piece.slice(0, -1) : piece));
  const ends = pieces.map((piece) => (isCrOnly ? "\r" : piece.endsWith("\r") ? "\r\n" : "\n"));
  const crlf = ends.filter((end) => end === "\r\n").length;
  const raw = last === "" ? lines : [...lines, last];
  const levels: (readonly string[])[] = [raw];
  return {
    raw,
    ends: last === "" ? ends : [...ends, ""],
    bom,
    eol: isCrOnly ? "\r" : crlf * 2 > ends.length ? "\r\n" : "\n",
    seen: (level) => (levels[level] ??= raw.map((line) => lookAt(decoded(line), level))),
  };
}

export const encoded = (text: string): string => (isPlain(text) ? text : Buffer.from(text, "utf8").toString("latin1"));
const decoded = (raw: string): string => (isPlain(raw) ? raw : Buffer.from(raw, "latin1").toString("utf8"));
const isPlain = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** 0 exact, 1 without blanks at the end, 2 without blanks at both ends, 3 also with typographic characters made plain. */
const LEVELS = [0, 1, 2, 3];

function lookAt(text: string, level: number): string {
  if (level === 1) return text.trimEnd();
  return level === 2 ? text.trim() : plainCharacters(text).trim();
}

function plainCharacters(text: string): string {
  return text
    .replaceAll(/[\u2018\u2019\u201a\u201b\u2032]/g, "'")
    .replaceAll(/[\u201c\u201d\u201e\u201f\u2033]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

/** Comparisons a whole patch may cost; a real one needs a fraction. */
export interface Effort {
  left: number;
}

export const newEffort = (): Effort => ({ left: 50_000_000 });

interface Search {
  readonly from: number;
  readonly atEnd: boolean;
  readonly near?: number | undefined;
  readonly effort: Effort;
}

/** The first match at or after `from`, or the one nearest to `near`; undefined without a match or when the budget is used up. */
export function findLines(
  file: FileLines,
  wanted: readonly string[],
  { from, atEnd, near, effort }: Search,
): number | undefined {
  const last = file.raw.length - wanted.length;
  if (atEnd && last >= from) {
    if (LEVELS.some((level) => standsAt(file.seen(level), looked(wanted, level), last, effort))) return last;
  }
  for (const level of LEVELS) {
    const [lines, sought] = [file.seen(level), looked(wanted, level)];
    let nearest: number | undefined;
    for (let at = from; at <= last; at += 1) {
      if (!standsAt(lines, sought, at, effort)) continue;
      if (near === undefined) return at;
      if (nearest === undefined || Math.abs(at - near) < Math.abs(nearest - near)) nearest = at;
    }
    if (nearest !== undefined) return nearest;
  }
  return undefined;
}

function looked(wanted: readonly string[], level: number): string[] {
  return wanted.map((text) => (level === 0 ? encoded(text) : lookAt(text, level)));
}

function standsAt(lines: readonly string[], wanted: readonly string[], at: number, effort: Effort): boolean {
  for (let step = 0; step < wanted.length; step += 1) {
    effort.left -= 1;
    if (lines[at + step] !== wanted[step] || effort.left < 0) return false;
  }
  return true;
}
