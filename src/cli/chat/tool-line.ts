// A tool call on one line: its name, its arguments, how it ended.
import { oneLine } from "../print.ts";
import type { Paint } from "../paint.ts";

export interface ToolStart {
  readonly name: string;
  readonly args: unknown;
}

export interface ToolEnd {
  readonly isError: boolean;
  readonly result: string;
  readonly elapsedMs: number;
}

/** `⚙ read path=notes.md … ok, 12 ms`, cut to the width so that it fits on one line. */
export function toolLine({ name, args }: ToolStart, end: ToolEnd, width: number, paint: Paint): string {
  const outcome = end.isError ? "failed" : "ok";
  const failure = end.isError ? `: ${oneLine(end.result)}` : "";
  const tail = ` … ${outcome}, ${Math.round(end.elapsedMs)} ms`;
  const room = Math.max(20, width - tail.length - 2);
  const call = cut(`${name} ${argumentsText(args)}`.trim(), end.isError ? Math.floor(room / 2) : room);
  const whole = cut(`${call}${tail}${failure}`, width - 2);
  return `${paint.dim("⚙")} ${end.isError ? paint.bad(whole) : paint.dim(whole)}`;
}

/** `path=notes.md limit=20`; values that are not text are JSON. */
export function argumentsText(args: unknown): string {
  if (typeof args !== "object" || args === null) return args === undefined ? "" : oneLine(JSON.stringify(args));
  return Object.entries(args)
    .map(([name, value]) => `${name}=${oneLine(typeof value === "string" ? value : JSON.stringify(value))}`)
    .join(" ");
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1)).toWellFormed()}…`;
}
