// The result of a command, for programs (details) and for people and models (text).
import type { Exit } from "./running.ts";

export type ExecDetails =
  | {
      readonly status: "completed";
      readonly exitCode: number;
      readonly durationMs: number;
      readonly aggregated: string;
      /** Undefined when a node chose the folder. */
      readonly cwd?: string;
      readonly truncated?: boolean;
    }
  | {
      readonly status: "failed";
      readonly exitCode: number | null;
      readonly exitSignal?: string;
      readonly timedOut?: boolean;
      readonly durationMs: number;
      readonly aggregated: string;
      /** Undefined when a node chose the folder. */
      readonly cwd?: string;
      readonly truncated?: boolean;
    }
  | {
      readonly status: "running";
      readonly sessionId: string;
      readonly pid: number;
      readonly startedAt: number;
      readonly cwd: string;
      readonly tail: string;
    }
  | {
      readonly status: "approval-pending";
      readonly approvalId: string;
      readonly approvalSlug: string;
      readonly expiresAtMs: number;
      readonly host: "gateway" | "node";
      readonly command: string;
      readonly cwd?: string;
      readonly nodeId?: string;
    };

export interface ExecOutcome {
  readonly details: ExecDetails;
  /** Shown before the result, one per line. */
  readonly warnings: readonly string[];
  readonly text: string;
}

/** For the answer of a node; longer output keeps its end, where errors usually are. */
export const AGGREGATE_CHARS = 200_000;
export const TAIL_CHARS = 2000;

export interface Finished {
  readonly exit: Exit;
  readonly aggregated: string;
  readonly truncated: boolean;
  readonly startedAt: number;
  readonly timeoutMs: number | undefined;
  readonly cwd: string | undefined;
}

/** `marked` marks untrusted output for the model; output of this machine stays unchanged. */
export function finished(
  run: Finished,
  warnings: readonly string[],
  marked: (shown: string) => string = (shown) => shown,
): ExecOutcome {
  const { exit, aggregated, truncated, startedAt, cwd } = run;
  const where = cwd === undefined ? {} : { cwd };
  const common = { durationMs: exit.endedAt - startedAt, aggregated, ...where, ...(truncated ? { truncated } : {}) };
  const shown = truncated ? `[… output truncated: only the end is shown]\n${aggregated}` : aggregated;
  if (exit.code === 0 && exit.reason === undefined) {
    const details = { status: "completed", exitCode: 0, ...common } as const;
    return { details, warnings, text: shown.trim() === "" ? "(no output)" : marked(shown) };
  }
  const details = {
    status: "failed",
    exitCode: exit.code,
    ...(exit.signal === undefined ? {} : { exitSignal: exit.signal }),
    ...(exit.reason === "timeout" ? { timedOut: true } : {}),
    ...common,
  } as const;
  const written = shown.trimEnd();
  const parts = [...(written === "" ? [] : [marked(written)]), howItEnded(run)];
  return { details, warnings, text: parts.join("\n\n") };
}

/** A command that we ended did part of its work; saying only "failed" would invite the model to repeat it. */
function howItEnded({ exit, timeoutMs }: Finished): string {
  if (exit.reason === "timeout")
    return `[ended after ${(timeoutMs ?? 0) / 1000} s, its time limit; changes made before that remain]`;
  if (exit.reason !== undefined) return `[ended: ${exit.reason}; changes made before that remain]`;
  if (exit.code === null) return `[ended by signal ${exit.signal ?? "unknown"}]`;
  return `[exit code ${exit.code}]`;
}

/** `Exec completed (calm-gulf, code 0) :: last line`. */
export function exitNotice(name: string, exit: Exit, tail: string): string {
  const verb = exit.code === 0 && exit.reason === undefined ? "completed" : "failed";
  const line = tail.trim().split("\n").at(-1)?.trim() ?? "";
  return `Exec ${verb} (${name}, ${endOf(exit)})${line === "" ? "" : ` :: ${line.slice(-400)}`}`;
}

export function endOf({ code, signal, reason }: Exit): string {
  if (reason === "timeout") return "timed out";
  return code === null ? `signal ${signal ?? "unknown"}` : `code ${code}`;
}

export const deniedNotice = (host: string, id: string, why: string, command: string): string =>
  `Exec denied (${host} id=${id}, ${why}): ${command.slice(0, 400)}`;
