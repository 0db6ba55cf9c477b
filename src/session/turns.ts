// How work is given to agents from anywhere in the house: post a turn, wait for it, stop it, say something in a session.
import type { ThinkingLevel } from "../core/thinking-level.ts";
import type { RunOutcome } from "../core/event.ts";
import type { Block, Message, TextBlock } from "../core/message.ts";
import type { SessionKey } from "../core/names.ts";
import { factsOfSource, type TurnSource } from "../core/turn-source.ts";
import type { Answerer } from "../approval/record.ts";
import type { AnswerSettings, ModelRef, ModelTool } from "../model/model.ts";

/** One turn as a caller asks for it. Plain JSON: it is a row before it runs. */
export interface TurnRequest {
  /** Also the idempotency key: posting it again returns the same receipt. */
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly text: string;
  readonly images?: readonly Extract<Block, { type: "image" }>[];
  /** Texts that come with the message, such as files, already marked as untrusted; no commands are read from them. */
  readonly attachments?: readonly TextBlock[];
  readonly source: TurnSource;
  /** The poster vouches for the sender, who may use commands and directives. */
  readonly authorised: boolean;
  /** An untrusted turn led to this one, which therefore has no more rights than that one. */
  readonly untrusted?: true;
  /** Who speaks, when they may also answer approvals; absent: they may not. */
  readonly approver?: Answerer;
  /** Who speaks may also change the settings of the house (`operator.admin`, or its owner in a chat). */
  readonly admin?: true;
  readonly thinking?: ThinkingLevel;
  readonly model?: ModelRef;
  /** Added to the system prompt for this turn only. */
  readonly extraSystem?: string;
  /**
   * Earlier messages the caller brings along (HTTP); those the session does not hold come before this turn. When they
   * end with results of tools the caller ran and `text` is empty, those results are what the turn is about.
   */
  readonly history?: readonly Message[];
  /** The session keeps what the caller brought along. */
  readonly keepHistory?: true;
  /** Tools the caller runs itself. */
  readonly clientTools?: readonly ModelTool[];
  readonly settings?: AnswerSettings;
  /** Calls of the agent's own tools at most; further ones are not run, and the model reads why. */
  readonly maxToolCalls?: number;
  readonly timeoutMs?: number;
  /** `[Www YYYY-MM-DD HH:MM TZ] ` in front of the text the model reads. */
  readonly stamp?: boolean;
  readonly label?: string;
  /**
   * A turn the house began by itself (heartbeat, wake): an all-clear of it is shown to nobody and does not count as
   * activity. How its answer is judged: see `judgeReply` of the agent.
   */
  readonly heartbeat?: {
    /** Characters an all-clear may have besides its token. */
    readonly ackMaxChars: number;
    /** The alert people already had lately; the same words again are for nobody. */
    readonly told?: string;
  };
  /** Only these of the tools policy grants; it can take away, never give. */
  readonly toolsAllow?: readonly string[];
  /** None of these, whatever policy grants. */
  readonly toolsDeny?: readonly string[];
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
  /** There when the run had already ended. */
  readonly outcome?: RunOutcome;
}

/** The part of the agents that stands left of them in the import order: cron, tools and hooks post through it. */
export interface Turns {
  /** Durable when it resolves: the turn runs or is closed with a truthful outcome, also after a crash. */
  post(turn: TurnRequest): Promise<Receipt>;
  /** Undefined when the time is over or the run is unknown; never stops the run. */
  wait(runId: string, timeoutMs: number, signal?: AbortSignal): Promise<RunOutcome | undefined>;
  /** Stops model, tools and their children, and drops what is queued behind; returns the run ids it ended. */
  abort(
    target: { readonly sessionKey: SessionKey; readonly runId?: string | undefined },
    reason: string,
  ): Promise<string[]>;
  /** Run ids at work or queued for a session, oldest first. */
  active(sessionKey: SessionKey): readonly string[];
  /**
   * Words of an agent that no model turn of this session made (an announcement, a job's result): durable in its
   * transcript when this resolves, and shown in the chats that are open on it. `id` makes it once: said again with the
   * same id, nothing happens.
   */
  say(sessionKey: SessionKey, text: string, id?: string): Promise<void>;
}
