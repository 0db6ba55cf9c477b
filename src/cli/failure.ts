// Prints a failure: what happened, then the fix. Exit code 1 for failures, 2 for wrong usage.
import { OpenClawError } from "../core/error.ts";
import { UsageError } from "./command.ts";
import type { Io } from "./io.ts";
import { safe, toJson } from "./print.ts";

export const FAILED = 1;
export const WRONG_USAGE = 2;

/** Prints the failure and returns the exit code. */
export function reportFailure(error: unknown, io: Io): number {
  const code = error instanceof UsageError ? WRONG_USAGE : FAILED;
  if (io.json) io.print(toJson({ ok: false, error: factsOf(error) }));
  else for (const line of linesOf(error, io)) io.say(line);
  return code;
}

function linesOf(error: unknown, { paintError: paint, env }: Io): string[] {
  if (error instanceof UsageError) {
    return [paint.bad(safe(error.message)), `fix: openclaw ${[...error.helpFor, "--help"].join(" ")}`];
  }
  if (error instanceof OpenClawError) {
    return [paint.bad(safe(error.message)), ...(error.hint === undefined ? [] : [`fix: ${safe(error.hint)}`])];
  }
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  const debug = (env["OPENCLAW_DEBUG"] ?? "") !== "";
  return [
    paint.bad(`unexpected failure, a bug in OpenClaw: ${safe(message)}`),
    ...(debug && stack !== undefined ? [stack] : ["fix: run it again with OPENCLAW_DEBUG=1 and report the output"]),
  ];
}

function factsOf(error: unknown): Record<string, unknown> {
  if (error instanceof UsageError)
    return { code: "cli.usage", message: error.message, hint: `openclaw ${[...error.helpFor, "--help"].join(" ")}` };
  if (!(error instanceof OpenClawError))
    return { code: "cli.bug", message: error instanceof Error ? error.message : String(error) };
  const { code, message, hint, details } = error;
  return { code, message, ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) };
}
