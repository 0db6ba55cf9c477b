// Telling a session something the house knows, now or with its next heartbeat.
import type { RunOutcome } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import type { EventOptions, Together } from "./system-events.ts";

export type WakeMode = "now" | "next-heartbeat";

export interface Wake {
  /** Keeps the line durably. `now` (the default) also asks for a turn to read it in, without a model it just waits. */
  readonly tell: (session: SessionKey, text: string, mode?: WakeMode, traits?: EventOptions) => Promise<void>;
  /**
   * As `tell` now, and waits for the turn that reads it, also while the session is busy with another. Undefined when
   * there was no turn (no model, heartbeats off) or the time was over.
   */
  readonly tellAndWait: (
    session: SessionKey,
    text: string,
    timeoutMs: number,
    together?: Together,
  ) => Promise<RunOutcome | undefined>;
  /** Wakes sessions that wait since before a restart, or since before heartbeats were switched on. */
  readonly resume: () => Promise<void>;
  close(): void;
}
