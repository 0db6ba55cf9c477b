// The port through which a tool or chat command administers the gateway. The engine loads on first use.
import type { AgentId, SessionKey } from "../core/names.ts";

/** Who asks, and which session gets the note after the restart. */
export interface AdminCaller {
  readonly agent: AgentId;
  readonly session: SessionKey;
  /** The run that an agent's call belongs to; left out when a person asks. */
  readonly turn?: string;
  /** Gets the note instead of `session`, when the request names another session. */
  readonly tell?: SessionKey | undefined;
  /** Plain JSON: the agent's call, to be judged again when the owner answers. */
  readonly asker?: (() => Promise<unknown>) | undefined;
}

export interface RestartRequest {
  readonly delayMs?: number | undefined;
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
  /** A person asked, not an agent: the loop limit does not count it. */
  readonly person?: boolean;
}

export interface ChangeRequest {
  readonly action: "config.apply" | "config.patch";
  /** JSON5: the whole text, or the patch. */
  readonly raw: string;
  /** Hash of the text the change was made for; left out: the file as it is now. */
  readonly baseHash?: string | undefined;
  readonly note?: string | undefined;
  readonly delayMs?: number | undefined;
  /** How long the question waits for an answer, if approval is needed. */
  readonly timeoutMs?: number | undefined;
}

export interface UpdateRequest {
  readonly note?: string | undefined;
  readonly delayMs?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  /** A person asked, not an agent: `commands.restart` does not matter. */
  readonly person?: boolean;
}

/** What the file contains now and what happens next. */
export interface AdminAnswer {
  readonly text: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A runtime override: applies until it is removed or the gateway restarts, and is never written to the file. */
export interface Override {
  readonly path: string;
  readonly value?: unknown;
  readonly removed?: true;
}

export interface Admin {
  /** Throws `gateway.restart-off` unless `commands.restart` allows it. */
  restart(request: RestartRequest, caller: AdminCaller): Promise<AdminAnswer>;
  /** Secrets are redacted; `path` selects one part. */
  configGet(path?: string): Promise<AdminAnswer>;
  /** The keys below a path; without a path, the sections. */
  configSchema(path?: string): Promise<AdminAnswer>;
  /** Writes the change immediately, or asks the owner when it touches a protected path. */
  change(request: ChangeRequest, caller: AdminCaller): Promise<AdminAnswer>;
  update(request: UpdateRequest, caller: AdminCaller): Promise<AdminAnswer>;
  /** A person's own edit of one key; without a value the key is removed. */
  edit(path: string, request: { readonly text: string } | { readonly remove: true }): Promise<AdminAnswer>;
  readonly overrides: {
    list(): readonly Override[];
    set(path: string, text: string): Promise<AdminAnswer>;
    unset(path: string): Promise<AdminAnswer>;
    reset(): Promise<AdminAnswer>;
  };
}
