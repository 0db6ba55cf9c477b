// Facts about sessions that only a running gateway knows.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { ModelRef } from "../model/model.ts";

export interface LiveStatus {
  /** The model that would answer, and how many usable credentials it has. */
  model(
    agent: AgentId,
    override: ModelRef | undefined,
  ): Promise<{ readonly ref: ModelRef; readonly credentials: number } | undefined>;
  /** Every known model, and whether it has a credential. */
  models(): Promise<readonly (ModelRef & { readonly ready: boolean })[]>;
  used(session: SessionKey): Promise<{ readonly input: number; readonly output: number; readonly costUsd: number }>;
  /** The number of running and waiting runs. */
  active(session: SessionKey): number;
}
