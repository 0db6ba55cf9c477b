// What the process tool shows of a background command: a row, new output, or a page of its log.
import { ToolError } from "../../core/error.ts";
import type { ProcessSession, ProcessState } from "../../exec/processes.ts";
import { shownTail, type TailMask } from "../../exec/shown-tail.ts";
import type { ToolResult } from "../tool.ts";

export interface ProcessRow {
  readonly sessionId: string;
  readonly status: ProcessState;
  readonly pid: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly runtimeMs: number;
  readonly cwd: string;
  readonly command: string;
  readonly name: string;
  readonly tail: string;
  readonly truncated: boolean;
  readonly exitCode?: number | null;
  readonly exitSignal?: string;
}

export type ProcessDetails =
  | { readonly status: "completed"; readonly sessions: readonly ProcessRow[] }
  | {
      readonly status: "running" | "completed" | "failed";
      readonly sessionId: string;
      readonly name: string;
      readonly exitCode?: number | null;
      readonly exitSignal?: string;
      /** The text of this result: new output for poll, the page for log. */
      readonly aggregated?: string;
      readonly totalLines?: number;
      readonly totalChars?: number;
      readonly truncated?: boolean;
      readonly screen?: string;
    };

/** The start of a secret at the end of a result waits for the next result, because a mask does not recognize half of it. */
export interface HeldBack {
  release(entry: ProcessSession, fresh: string, isEnd: boolean): string;
}

export function createHeldBack(unfinished: (text: string) => number): HeldBack {
  const held = new WeakMap<ProcessSession, string>();
  return {
    release(entry, fresh, isEnd) {
      const text = `${held.get(entry) ?? ""}${fresh}`;
      const keep = isEnd ? 0 : unfinished(text);
      held.set(entry, keep === 0 ? "" : text.slice(-keep));
      return keep === 0 ? text : text.slice(0, -keep);
    },
  };
}

const ROW_TAIL_CHARS = 200;
const DEFAULT_LINES = 200;
/** Limit of one result; the rest is available with offset. */
const MAX_PAGE_CHARS = 200_000;

export function toRow(entry: ProcessSession, now: number, mask: TailMask): ProcessRow {
  const { running } = entry;
  const exit = entry.exit();
  const { output, pid, startedAt } = running;
  return {
    sessionId: entry.id,
    status: entry.state(),
    pid,
    startedAt,
    ...(exit === undefined ? {} : { endedAt: exit.endedAt }),
    runtimeMs: (exit?.endedAt ?? now) - startedAt,
    cwd: entry.cwd,
    command: mask.command(entry.command),
    name: entry.name,
    tail: shownTail(output, ROW_TAIL_CHARS, mask, exit !== undefined).trimEnd(),
    truncated: output.totalChars > ROW_TAIL_CHARS,
    ...endOf(entry),
  };
}

/** Never waits. Each output is returned once; the exit is repeated until the command is forgotten. */
export function pollNews(entry: ProcessSession, held: HeldBack): ToolResult<ProcessDetails> {
  const { text: fresh, dropped } = entry.running.output.drain();
  const exit = entry.exit();
  const text = held.release(entry, fresh, exit !== undefined);
  if (exit !== undefined) entry.noteExitKnown();
  const news = dropped > 0 ? `[… about ${dropped} characters omitted; read them with log]\n${text}` : text;
  const shown = news === "" ? "(no new output)" : news.trimEnd();
  return {
    content: [{ type: "text", text: `${shown}\n\n${howItIs(entry)}` }],
    details: { ...headOf(entry), aggregated: text, truncated: dropped > 0 },
  };
}

export async function logPage(
  entry: ProcessSession,
  asked: { readonly offset?: number; readonly limit?: number },
): Promise<ToolResult<ProcessDetails>> {
  const { output } = entry.running;
  const limit = wholeNumber("limit", asked.limit);
  const offset = wholeNumber("offset", asked.offset);
  const { totalLines, totalChars } = output;
  const count = limit ?? (offset === undefined ? DEFAULT_LINES : Infinity);
  const from = offset ?? Math.max(0, totalLines - count);
  const lines = fitting(await output.lines(from, Math.min(count, Math.max(0, totalLines - from))));
  const to = from + lines.length;
  const page = lines.join("\n");
  const isAll = from === 0 && to >= totalLines;
  const note = isAll ? [] : [pageNote(from, to, totalLines)];
  const shown = lines.length === 0 ? "(no output)" : page;
  return {
    content: [{ type: "text", text: [...note, shown].join("\n") }],
    details: { ...headOf(entry), aggregated: page, totalLines, totalChars, truncated: !isAll },
  };
}

function pageNote(from: number, to: number, total: number): string {
  if (to === from) return `[no lines at this offset; the output has ${total} lines]`;
  const more = to < total ? `; continue with offset ${to}` : from > 0 ? "; a smaller offset shows earlier lines" : "";
  return `[offset ${from} to ${to - 1} of ${total}${more}]`;
}

function fitting(lines: readonly string[]): readonly string[] {
  let room = MAX_PAGE_CHARS;
  const end = lines.findIndex((line) => (room -= line.length + 1) < 0);
  // At least one line is always returned: an empty page would never get past a long line.
  return end === -1 ? lines : lines.slice(0, Math.max(1, end));
}

function wholeNumber(name: string, value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isFinite(value) && value >= 0) return Math.floor(value);
  throw new ToolError("process.bad-argument", `process log: ${name} must be a whole number from 0`, {
    hint: `leave ${name} out for the last lines`,
  });
}

function howItIs(entry: ProcessSession): string {
  const exit = entry.exit();
  if (exit === undefined) return "Still running.";
  const how = exit.code === null ? `ended by signal ${exit.signal ?? "unknown"}` : `exited with code ${exit.code}`;
  return exit.reason === undefined ? `Process ${how}.` : `Process ${how} (${exit.reason}).`;
}

export function headOf(entry: ProcessSession): {
  readonly status: "running" | "completed" | "failed";
  readonly sessionId: string;
  readonly name: string;
  readonly exitCode?: number | null;
  readonly exitSignal?: string;
} {
  const state = entry.state();
  return { status: state === "killed" ? "failed" : state, sessionId: entry.id, name: entry.name, ...endOf(entry) };
}

function endOf(entry: ProcessSession): { readonly exitCode?: number | null; readonly exitSignal?: string } {
  const exit = entry.exit();
  if (exit === undefined) return {};
  return { exitCode: exit.code, ...(exit.signal === undefined ? {} : { exitSignal: exit.signal }) };
}
