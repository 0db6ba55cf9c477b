// The contract of slash commands and directives, which chat handles before a model sees the message.
import type { SessionKey, AgentId } from "../core/names.ts";
import type { RunFailure } from "../core/event.ts";
import type { TurnSource } from "../core/turn-source.ts";
import type { Answerer } from "../approval/record.ts";
import type { CallHints } from "../tool/tool.ts";

export interface CommandContext {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly runId: string;
  /** The turn source of the message. */
  readonly source: string;
  /** May use commands; without it commands are plain text. */
  readonly authorised: boolean;
  /** The sender, when the sender may answer approvals. */
  readonly approver?: Answerer | undefined;
  /** The sender may change settings. */
  readonly admin?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** What remains to be done after commands and directives were applied. */
export type Directed =
  /** Answered by the gateway without a model. `failure` is set when a tool run by `/tool` or `!` failed. */
  | { readonly kind: "answered"; readonly text: string; readonly failure?: RunFailure | undefined }
  /** A turn for the model with the remaining text. `notes` are for the person, not the model; `once` applies to this turn only. */
  | {
      readonly kind: "turn";
      readonly text: string;
      readonly notes: readonly string[];
      readonly once: OnceSettings;
      /** Set when a command wrote the text, which is then not shown as the person's message. */
      readonly source?: TurnSource;
    };

export interface OnceSettings extends CallHints {
  readonly thinking?: string;
  readonly model?: string;
  readonly verbose?: string;
  readonly reasoning?: string;
  readonly queue?: string;
}

/** Where and how commands run, as `/exec` names it. */
export type ExecHints = NonNullable<CallHints["exec"]>;

/** Called by the runner for every user turn before the model. Must not throw for any message. */
export type Direct = (text: string, context: CommandContext) => Promise<Directed>;

/**
 * True for a message that contains only commands and need not wait for the current run: its commands run immediately,
 * outside the queue. A turn that results from it (/new) is queued as usual. /compact, /tool and ! wait in the queue,
 * because they can take long and can be stopped there.
 */
export type IsUrgent = (text: string, context: Pick<CommandContext, "authorised" | "source">) => boolean;
