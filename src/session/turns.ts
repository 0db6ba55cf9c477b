// How other parts give work to agents: post a turn, wait for it, stop it, post a message in a session.
import type { ThinkingLevel } from "../core/thinking-level.ts";
import type { RunOutcome } from "../core/event.ts";
import type { Block, Message, TextBlock } from "../core/message.ts";
import type { SessionKey } from "../core/names.ts";
import { factsOfSource, type TurnSource } from "../core/turn-source.ts";
import type { Answerer } from "../approval/record.ts";
import type { MediaKind } from "../media/media-type.ts";
import type { AnswerSettings, ModelRef, ModelTool } from "../model/model.ts";

/** One turn as a caller requests it. Plain JSON, because it is stored before it runs. */
export interface TurnRequest {
  /** Also the idempotency key: posting it again returns the same receipt. */
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly text: string;
  readonly images?: readonly Extract<Block, { type: "image" }>[];
  /** Files of the media store that came with the message; whoever posts the turn saved them first. */
  readonly media?: readonly MediaReference[];
  /** Texts that come with the message, such as files; marked as untrusted, and never read as commands. */
  readonly attachments?: readonly TextBlock[];
  readonly source: TurnSource;
  /** The poster vouches for the sender, who may use commands and directives. */
  readonly authorised: boolean;
  /** An untrusted turn led to this one, which therefore has no more rights than that one. */
  readonly untrusted?: true;
  /** The sender, when the sender may answer approvals. */
  readonly approver?: Answerer;
  /** The sender may also change settings (`operator.admin`, or the owner in a chat). */
  readonly admin?: true;
  readonly thinking?: ThinkingLevel;
  readonly model?: ModelRef;
  /** Added to the system prompt for this turn only. */
  readonly extraSystem?: string;
  /**
   * Earlier messages of the caller (HTTP); those missing in the session are inserted before this turn. When they end
   * with results of tools that the caller ran and `text` is empty, the turn answers those results.
   */
  readonly history?: readonly Message[];
  /** The session stores the caller's messages. */
  readonly keepHistory?: true;
  /** Tools that the caller runs itself. */
  readonly clientTools?: readonly ModelTool[];
  readonly settings?: AnswerSettings;
  /** Limit of calls of the agent's own tools; further calls are not run, and the model reads the reason. */
  readonly maxToolCalls?: number;
  readonly timeoutMs?: number;
  /** Puts `[Www YYYY-MM-DD HH:MM TZ] ` before the text that the model reads. */
  readonly stamp?: boolean;
  readonly label?: string;
  /**
   * The gateway started this turn (heartbeat, wake). A reply that reports nothing is not shown and does not count as
   * activity; `judgeReply` of the agent decides.
   */
  readonly heartbeat?: {
    /** Characters that such a reply may have besides its token. */
    readonly ackMaxChars: number;
    /** The last alert that people got; the same text again is not shown. */
    readonly told?: string;
  };
  /** Limits the tools that policy allows to these. */
  readonly toolsAllow?: readonly string[];
  /** Removes these tools from those that policy allows. */
  readonly toolsDeny?: readonly string[];
}

/** Plain JSON. Only `path` and `fileName` count later: the type is read from the content again. */
export interface MediaReference {
  readonly kind: MediaKind;
  /** In the media store. */
  readonly path: string;
  readonly mimeType: string;
  readonly size: number;
  /** The sender's name of the file; never used as a path. */
  readonly fileName?: string;
}

/** Stored with a message that no person typed, so that clients do not show it as the person's own. */
export function sourceOnRecord({ source }: Pick<TurnRequest, "source">): { readonly source?: TurnSource } {
  return factsOfSource(source).isTyped ? {} : { source };
}

export interface Receipt {
  readonly runId: string;
  readonly acceptedAt: number;
  /** False when this run id was posted before. */
  readonly fresh: boolean;
  /** Present when the run has already ended. */
  readonly outcome?: RunOutcome;
}

/** The part of the agents that cron, tools and hooks use. */
export interface Turns {
  /** Durable when it resolves: the turn runs or is closed with its true outcome, also after a crash. */
  post(turn: TurnRequest): Promise<Receipt>;
  /** Undefined when the time runs out or the run is unknown; never stops the run. */
  wait(runId: string, timeoutMs: number, signal?: AbortSignal): Promise<RunOutcome | undefined>;
  /** Stops the model, tools and their processes, and drops queued turns; returns the run ids it ended. */
  abort(
    target: { readonly sessionKey: SessionKey; readonly runId?: string | undefined },
    reason: string,
  ): Promise<string[]>;
  /** Ids of running and queued runs of a session, oldest first. */
  active(sessionKey: SessionKey): readonly string[];
  /**
   * Posts a message of the agent that no model turn of this session wrote (an announcement, the result of a job):
   * durable in the transcript when this resolves, and shown in open chats. With the same `id` again it does
   * nothing.
   */
  say(sessionKey: SessionKey, text: string, id?: string): Promise<void>;
}
