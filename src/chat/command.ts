// The contract of slash commands and directives, which are handled before a model sees the message.
import type { SessionKey, AgentId } from "../core/names.ts";
import type { RunOutcome } from "../core/event.ts";
import type { TurnSource } from "../core/turn-source.ts";
import type { Answerer } from "../approval/record.ts";

export interface CommandContext {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly runId: string;
  /** Which door the message came through. */
  readonly source: string;
  /** May use commands; without it commands are plain text. */
  readonly authorised: boolean;
  /** Who speaks, when they may answer approvals. */
  readonly approver?: Answerer | undefined;
  /** The sender may change settings. */
  readonly admin?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** What is left to do after commands and directives were taken out. */
export type Directed =
  /** Answered by the gateway without a model. `outcome` carries failures of tools run by `/tool` and `!`. */
  | { readonly kind: "answered"; readonly text: string; readonly failure?: RunOutcome["failure"] }
  /** A turn for the model with the remaining text. `notes` are for the person, not the model; `once` holds for this turn only. */
  | {
      readonly kind: "turn";
      readonly text: string;
      readonly notes: readonly string[];
      readonly once: OnceSettings;
      /** Set when a command wrote the text, which is then not shown as the person's message. */
      readonly source?: TurnSource;
    };

export interface OnceSettings {
  readonly thinking?: string;
  readonly model?: string;
  readonly verbose?: string;
  readonly reasoning?: string;
  readonly queue?: string;
  readonly elevated?: string;
  readonly exec?: ExecHints;
}

/** Where and how commands run, as `/exec` names it. */
export interface ExecHints {
  readonly host?: string;
  readonly security?: string;
  readonly ask?: string;
  readonly node?: string;
}

/** Called by the runner with every user turn, before anything else. Must not throw for what a person typed. */
export type Direct = (text: string, context: CommandContext) => Promise<Directed>;

/**
 * True for a message that is nothing but commands and need not wait for a run under way: it is directed at once, beside
 * the session's lane. A turn that comes of it (/new) is queued as usual. /compact, /tool and ! take
 * their place in the queue: they may take long, and there they can be stopped.
 */
export type IsUrgent = (text: string, context: Pick<CommandContext, "authorised" | "source">) => boolean;
