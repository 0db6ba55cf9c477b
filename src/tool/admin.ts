// The port through which a tool or chat command administers the gateway. Its engine loads with the first use.
import type { AgentId, SessionKey } from "../core/names.ts";

/** Who asks, and who is told after the restart. */
export interface AdminCaller {
  readonly agent: AgentId;
  readonly session: SessionKey;
  /** The run an agent's call belongs to; left out, a person asks. */
  readonly turn?: string;
  /** Told instead of `session`, when another one was named. */
  readonly tell?: SessionKey | undefined;
  /** Plain JSON: the agent's call, to be judged again when the owner answers. */
  readonly asker?: (() => Promise<unknown>) | undefined;
}

export interface RestartAsk {
  readonly delayMs?: number | undefined;
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
  /** A person asked, not an agent: it is not counted against loops. */
  readonly person?: boolean;
}

export interface ChangeAsk {
  readonly action: "config.apply" | "config.patch";
  /** JSON5: the whole text, or the patch. */
  readonly raw: string;
  /** Hash of the text the change was made for; the file as it is now when left out. */
  readonly baseHash?: string | undefined;
  readonly note?: string | undefined;
  readonly delayMs?: number | undefined;
  /** How long the question stands, when one must be asked. */
  readonly timeoutMs?: number | undefined;
}

export interface UpdateAsk {
  readonly note?: string | undefined;
  readonly delayMs?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  /** A person asked, not an agent: `commands.restart` does not matter. */
  readonly person?: boolean;
}

/** What is in the file now and what happens next. */
export interface AdminAnswer {
  readonly text: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A runtime override: in force until it is taken back or the gateway restarts, never written. */
export interface Override {
  readonly path: string;
  readonly value?: unknown;
  readonly removed?: true;
}

export interface Admin {
  /** Throws `gateway.restart-off` unless `commands.restart` allows it. */
  restart(ask: RestartAsk, caller: AdminCaller): Promise<AdminAnswer>;
  /** Secrets hidden; one part of it by path. */
  configGet(path?: string): Promise<AdminAnswer>;
  /** The keys below a path; without one the sections. */
  configSchema(path?: string): Promise<AdminAnswer>;
  /** Written at once, or asked of the owner when it touches what agents may not change by themselves. */
  change(ask: ChangeAsk, caller: AdminCaller): Promise<AdminAnswer>;
  update(ask: UpdateAsk, caller: AdminCaller): Promise<AdminAnswer>;
  /** A person's own edit of one key; without a value it is removed. */
  edit(path: string, wish: { readonly text: string } | { readonly remove: true }): Promise<AdminAnswer>;
  readonly overrides: {
    list(): readonly Override[];
    set(path: string, text: string): Promise<AdminAnswer>;
    unset(path: string): Promise<AdminAnswer>;
    reset(): Promise<AdminAnswer>;
  };
}
