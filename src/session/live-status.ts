// How a session stands right now, as far as only a running gateway knows it.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { ModelRef } from "../model/model.ts";

export interface LiveStatus {
  /** The model that would answer, and how many credentials for it could be used now. */
  model(
    agent: AgentId,
    override: ModelRef | undefined,
  ): Promise<{ readonly ref: ModelRef; readonly credentials: number } | undefined>;
  /** Every model that can be named, and whether a credential for it is there. */
  models(): Promise<readonly (ModelRef & { readonly ready: boolean })[]>;
  used(session: SessionKey): Promise<{ readonly input: number; readonly output: number; readonly costUsd: number }>;
  /** Runs under way or waiting. */
  active(session: SessionKey): number;
}
