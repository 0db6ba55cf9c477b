// Changes of jobs as tools ask for them: done at once for who may, asked of the owner for who may not.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { WakeMode } from "../session/wake.ts";
import type { Cron } from "./cron.ts";

export type CronChange =
  | { readonly action: "add"; readonly job: unknown }
  | { readonly action: "update"; readonly id: string; readonly patch: unknown }
  | { readonly action: "remove"; readonly id: string };

export interface CronAsker {
  readonly agent: AgentId;
  readonly session: SessionKey;
  /** The run the call belongs to. */
  readonly turn: string;
}

export type CronChanged =
  | { readonly done: unknown }
  /** Nothing happened yet; what comes of it is told to the session. */
  | { readonly waiting: { readonly approvalId: string; readonly expiresAtMs: number } };

/** What the tool uses of the jobs. */
export interface CronDoor extends Omit<Cron, "add" | "update" | "remove"> {
  /** Work that outlives the turn needs the owner when a stranger's words, a hook or another job led to it. */
  change(change: CronChange, asker: CronAsker): Promise<CronChanged>;
  wake(asker: CronAsker, text: string, mode: WakeMode): Promise<void>;
}
