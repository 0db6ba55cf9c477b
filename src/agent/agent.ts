// What the surfaces use of the agents: post a turn, watch it, wait for it, stop it. The inbox is the one door in.
import type { RunEvent } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import type { Turns } from "../session/turns.ts";

export interface Agents extends Turns {
  /** Every event of every run from now on; returns how to stop listening. */
  watch(listener: (event: RunEvent) => void): () => void;
  /** Makes the transcript shorter by a summary; false when there was nothing to do. */
  compact(
    sessionKey: SessionKey,
    instructions?: string,
  ): Promise<{ readonly compacted: boolean; readonly kept: number; readonly note: string }>;
  close(): Promise<void>;
}
