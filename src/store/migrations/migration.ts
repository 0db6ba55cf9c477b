// One migration of the store's schema.

export interface Migration {
  /** Consecutive from 1; never reused, never edited once released. */
  readonly version: number;
  readonly name: string;
  readonly up: string;
  /** Tables whose number of rows changes on purpose; all others must keep theirs. */
  readonly recounts?: readonly string[];
}
