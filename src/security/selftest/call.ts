// A tool call of an attack, and how it ended.

export interface Call {
  readonly tool: string;
  /** Texts may contain placeholders of the fixture: {{CANARY}} {{SECRET}} {{OUT}} {{WS}} {{WSNAME}} {{STATE}} {{HOME}} {{SAY}}. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly session?: string;
}

export type Ended = "refused" | "asked" | "failed" | "done";

export interface Outcome {
  readonly ended: Ended;
  /** Everything the caller could read. */
  readonly output: string;
  readonly code?: string;
  /** Set by a script that detects the harm itself. */
  readonly harm?: string;
}
