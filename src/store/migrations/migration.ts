// One step of the store's shape.

export interface Migration {
  /** Counts from 1 without holes; never reused, never edited once released. */
  readonly version: number;
  readonly name: string;
  readonly up: string;
  /** Tables whose number of rows it changes on purpose; all others must keep theirs. */
  readonly recounts?: readonly string[];
}
