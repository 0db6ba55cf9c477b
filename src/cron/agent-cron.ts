// Changes of jobs as tools ask for them: done at once for who may, asked of the owner for who may not.
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
      /** How many messages of the asker's session are quoted below the text of a reminder. */
      readonly contextMessages?: number;
      /** The chat it was made in, when its line or result goes there. Set by the gateway, never by a caller. */
      readonly session?: SessionKey;
    }
  | { readonly action: "update"; readonly id: string; readonly patch: unknown }
  | { readonly action: "remove"; readonly id: string };

export interface CronAsker {
  readonly agent: AgentId;
  readonly session: SessionKey;
  /** The run the call belongs to. */
  readonly turn: string;
  readonly sandboxed: boolean;
  /** Whether the asker itself may use a tool. */
  readonly allows: (tool: string) => boolean;
  /** Plain JSON: the call, to be judged again when the owner answers. */
  readonly origin?: (() => Promise<unknown>) | undefined;
}

export type CronChanged =
  | { readonly done: unknown }
  /** Nothing happened yet; what comes of it is told to the session. */
  | { readonly waiting: { readonly approvalId: string; readonly expiresAtMs: number } };

/** What the tool uses of the jobs. To an asker the jobs of agents it may not talk with are not there. */
export interface AgentCron {
  status(): Promise<CronStatus>;
  list(asker: CronAsker, options: { readonly includeDisabled: boolean }): Promise<Job[]>;
  /** Throws `cron.owner-only` in a turn that a stranger's words, a hook or another job led to. */
  run(asker: CronAsker, id: string, mode: "force" | "due"): Promise<RunAnswer>;
  runs(asker: CronAsker, id: string, limit: number): Promise<RunEntry[]>;
  output: (
    asker: CronAsker,
    id: string,
    slot: string,
    page: { readonly offset: number; readonly limit: number },
  ) => Promise<OutputPage>;
  /**
   * Work that outlives the turn needs the owner when a stranger's words, a hook or another job led to it, and when it
   * could do what the asker cannot.
   */
  change(change: CronChange, asker: CronAsker): Promise<CronChanged>;
  /** The mode it was told with: without the owner's words a session cannot wake itself again and again. */
  wake(asker: CronAsker, text: string, mode: WakeMode): Promise<WakeMode>;
}
