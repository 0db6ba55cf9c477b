// The error class of this program: a stable code, a sentence for people, and the key or command that fixes the problem.

export interface ErrorFacts {
  /** The key or command that fixes the problem. */
  readonly hint?: string;
  /** Data for programs, without secrets. */
  readonly details?: unknown;
  readonly cause?: unknown;
}

/**
 * An expected failure. `code` is `area.reason` and never changes meaning. Any other thrown error is a bug in this
 * program.
 */
export class OpenClawError extends Error {
  override readonly name: string = "OpenClawError";
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: unknown;

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint;
    this.details = facts.details;
  }
}

/** A failure that the model should read and may react to. */
export class ToolError extends OpenClawError {
  override readonly name: string = "ToolError";
}

/** The errno code of a system error, otherwise undefined. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
