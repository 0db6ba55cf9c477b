// Formats text for people: columns, tables, wrapped lines, and untrusted text without control characters.
import { shortenHome } from "../base/paths.ts";
import type { Repaired } from "../security/repair.ts";
import type { Io } from "./io.ts";

/** Name and text in two columns; the text is wrapped inside its column. */
export function columns(
  pairs: readonly (readonly [string, string])[],
  { width, indent = "" }: { readonly width: number; readonly indent?: string },
): string[] {
  const widest = Math.min(34, Math.max(0, ...pairs.map(([name]) => name.length)));
  const gap = `${indent}${" ".repeat(widest + 2)}`;
  return pairs.flatMap(([name, text]) => {
    const [first = "", ...more] = wrap(text, Math.max(30, width - gap.length));
    const lead = `${indent}${name.padEnd(widest)}  `;
    if (name.length > widest) return [`${indent}${name}`, ...[first, ...more].map((line) => `${gap}${line}`)];
    return [`${lead}${first}`.trimEnd(), ...more.map((line) => `${gap}${line}`)];
  });
}

/** Lines of at most `width`, broken at blanks; line breaks in the text stay. */
export function wrap(text: string, width: number, indent = ""): string[] {
  const room = Math.max(20, width - indent.length);
  return text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    let current = "";
    for (const word of line.split(" ")) {
      const longer = current === "" ? word : `${current} ${word}`;
      if (longer.length > room && current !== "") {
        lines.push(current);
        current = word;
      } else current = longer;
    }
    return [...lines, current].map((part) => `${indent}${part}`.trimEnd());
  });
}

export interface Column<Row> {
  readonly title: string;
  text(row: Row): string;
  /** Colors the padded cell. */
  paint?(cell: string, row: Row): string;
}

/** Every cell on one line, columns as wide as their widest cell. */
export function table<Row>(rows: readonly Row[], shape: readonly Column<Row>[], io: Pick<Io, "paint">): string[] {
  const cells = rows.map((row) => shape.map((column) => oneLine(column.text(row))));
  const widths = shape.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => line[at]?.length ?? 0)));
  const isLast = (at: number): boolean => at === shape.length - 1;
  const pad = (text: string, at: number): string => (isLast(at) ? text : text.padEnd(widths[at] ?? 0));
  const heading = io.paint.dim(
    shape
      .map(({ title }, at) => pad(title, at))
      .join("  ")
      .trimEnd(),
  );
  const body = rows.map((row, index) =>
    shape
      .map((column, at) => {
        const cell = pad(cells[index]?.[at] ?? "", at);
        return column.paint === undefined ? cell : column.paint(cell, row);
      })
      .join("  ")
      .trimEnd(),
  );
  return [heading, ...body];
}

// Control characters except line break and tab, and characters that reorder or hide text.
const unsafe = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Untrusted text with control characters escaped; keeps line breaks. */
export function safe(text: string): string {
  return text.replace(unsafe, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "fffd"}}`);
}

export function oneLine(text: string): string {
  return safe(text).replaceAll(/[\n\t]+/g, " ");
}

export function repairLines({ paint }: Pick<Io, "paint">, repaired: readonly Repaired[]): string[] {
  return repaired.map(({ does, failed }) =>
    failed === undefined
      ? `${paint.good("done:")} ${safe(does)}`
      : `${paint.bad("failed:")} ${safe(does)}: ${safe(failed)}`,
  );
}

/** One job, two jobs. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

export function shortPath(path: string, io: Pick<Io, "paths">): string {
  return shortenHome(path, io.paths().home);
}

/** JSON with every character escaped that a terminal would interpret: JSON leaves 7f to 9f unescaped. */
export function toJson(value: unknown, indent: number | undefined = 2): string {
  return JSON.stringify(value, null, indent)?.replaceAll(
    // oxlint-disable-next-line no-control-regex
    /[\u007f-\u009f]/g,
    (char) => `\\u00${char.charCodeAt(0).toString(16)}`,
  );
}
