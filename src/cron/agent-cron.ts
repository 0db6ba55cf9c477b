// Cron as the tool uses it: changes within an agent's rights are made immediately, others need approval.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { WakeMode } from "../session/wake.ts";
import type { CronStatus, RunAnswer } from "./cron.ts";
import type { RunEntry } from "./entry.ts";
import type { Job } from "./job.ts";
import type { OutputPage } from "./outputs.ts";

export type CronChange =
  | {
      readonly action: "add";
      readonly job: unknown;
      /** How many messages of the requesting session are quoted below the text of a reminder. */
      readonly contextMessages?: number;
      /** The chat that gets the note or result. Set by the gateway, never by a caller. */
      readonly session?: SessionKey;
    }
  | { readonly action: "update"; readonly id: string; readonly patch: unknown }
  | { readonly action: "remove"; readonly id: string };

export interface CronAsker {
  readonly agent: AgentId;
  readonly session: SessionKey;
  /** The run of the call. */
  readonly turn: string;
  readonly sandboxed: boolean;
  /** Whether the requesting session may use a tool. */
  readonly allows: (tool: string) => boolean;
  /** The call as plain JSON, to be checked again when the owner answers. */
  readonly origin?: (() => Promise<unknown>) | undefined;
}

export type CronChanged =
  | { readonly done: unknown }
  /** Not done yet; the session gets a note about the result. */
  | { readonly waiting: { readonly approvalId: string; readonly expiresAtMs: number } };

/** What the tool uses. Jobs of agents that the requester cannot reach are reported as unknown. */
export interface AgentCron {
  status(): Promise<CronStatus>;
  list(asker: CronAsker, options: { readonly includeDisabled: boolean }): Promise<Job[]>;
  /** Throws `cron.owner-only` unless the turn is the owner's. */
  run(asker: CronAsker, id: string, mode: "force" | "due"): Promise<RunAnswer>;
  runs(asker: CronAsker, id: string, limit: number): Promise<RunEntry[]>;
  output: (
    asker: CronAsker,
    id: string,
    slot: string,
    page: { readonly offset: number; readonly limit: number },
  ) => Promise<OutputPage>;
  /**
   * Needs approval unless the turn is the owner's, because a job outlives the turn, and when the job could do more than
   * the requester.
   */
  change(change: CronChange, asker: CronAsker): Promise<CronChanged>;
  /** Returns the mode it used: only a turn of the owner can wake a session immediately, so that a session cannot keep itself awake. */
  wake(asker: CronAsker, text: string, mode: WakeMode): Promise<WakeMode>;
}
