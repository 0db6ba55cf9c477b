// Posts a note of the gateway to a session, now or with its next heartbeat.
import type { RunOutcome } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import type { EventOptions, Together } from "./system-events.ts";

export type WakeMode = "now" | "next-heartbeat";

export interface Wake {
  /** Stores the note durably. `now` (the default) also starts a turn that reads it, if a model is configured. */
  readonly notify: (session: SessionKey, text: string, mode?: WakeMode, traits?: EventOptions) => Promise<void>;
  /**
   * Like `notify` with `now`, and waits for the turn that reads the note. Undefined when there was no turn (no model,
   * heartbeats off) or the time ran out.
   */
  readonly notifyAndWait: (
    session: SessionKey,
    text: string,
    timeoutMs: number,
    together?: Together,
  ) => Promise<RunOutcome | undefined>;
  /** Wakes sessions whose notes waited during a restart or while heartbeats were off. */
  readonly resume: () => Promise<void>;
  close(): void;
}
