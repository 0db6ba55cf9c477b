// The agents as the rest of the gateway uses them: post a turn, watch it, wait for it, stop it.
import type { RunEvent } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import type { Turns } from "../session/turns.ts";

export interface Agents extends Turns {
  /** Reports every event of every run from now on. Returns a function that stops it. */
  watch(listener: (event: RunEvent) => void): () => void;
  /** Replaces the older part of the transcript by a summary. */
  compact(
    sessionKey: SessionKey,
    instructions?: string,
  ): Promise<{ readonly compacted: boolean; readonly kept: number; readonly note: string }>;
  close(): Promise<void>;
}
