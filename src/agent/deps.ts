// What the agents need from the house; made in app, so that nothing here knows a vendor, a tool or a command.
import type { RunFailure } from "../core/event.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import type { TurnSource } from "../core/turn-source.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { Paths } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import type { Answerer } from "../approval/record.ts";
import type { ModelBook, ModelEvent, ModelFacts, ModelRef, ModelRequest } from "../model/model.ts";
import type { SystemEvents } from "../session/system-events.ts";
import type { Store } from "../store/store.ts";
import type { CallTool } from "../tool/call.ts";
import type { Catalog } from "../tool/catalog.ts";
import type { CallHints } from "../tool/tool.ts";
import type { Ledger } from "./ledger.ts";

export interface AgentsDeps {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly callTool: CallTool;
  readonly models: ModelBook;
  /** Shared with whoever shows what was used; made here when left out. */
  readonly ledger?: Ledger;
  /** How a model turn is streamed, with retry and fail-over; `createStreamModel` of model/retry.ts when left out. */
  readonly streamModel?: StreamModel;
  /** Slash commands and directives, asked before any model (`Direct` of chat). */
  readonly direct: DirectTurn;
  /**
   * Messages that are nothing but commands (`IsUrgent` of chat): they are directed at once, beside a run under way.
   * Without it a few commands are known by name.
   */
  readonly isUrgent?: (
    text: string,
    context: { readonly authorised: boolean; readonly source: string },
  ) => boolean | Promise<boolean>;
  readonly config: () => Config;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: Mask;
  /** Until what a full disk refused is tried again. */
  readonly retryMs?: number;
  /** What the house has to tell a session with its next turn. */
  readonly systemEvents?: SystemEvents;
  /** Scripts of the owner that may change the files a prompt begins with; undefined while there is none. */
  readonly onBootstrap?: () => BootstrapHook | undefined;
  /** Told before a session is summed up, so that what lasts can be written down first. */
  readonly beforeCompaction?: (session: {
    readonly sessionKey: SessionKey;
    readonly agentId: AgentId;
  }) => Promise<void>;
}

export type BootstrapHook = (about: {
  readonly sessionKey: SessionKey;
  readonly sessionId: string;
  readonly agentId: AgentId;
  readonly files: readonly { readonly name: string; readonly content: string }[];
}) => Promise<{
  /** For the person. */
  readonly messages: readonly string[];
  readonly bootstrapFiles?: readonly { readonly name: string; readonly content: string }[];
}>;

/** The shape of `Direct` in chat, which stands to our right in the import order. */
export type DirectTurn = (
  text: string,
  context: {
    readonly sessionKey: SessionKey;
    readonly agentId: AgentId;
    readonly runId: string;
    readonly source: string;
    readonly authorised: boolean;
    readonly approver?: Answerer | undefined;
    readonly admin?: boolean | undefined;
    readonly signal: AbortSignal;
  },
) => Promise<DirectedTurn>;

export type DirectedTurn =
  | { readonly kind: "answered"; readonly text: string; readonly failure?: RunFailure | undefined }
  | {
      readonly kind: "turn";
      readonly text: string;
      readonly notes: readonly string[];
      readonly once: CallHints & { readonly thinking?: string; readonly model?: string };
      /** Set when a command wrote the text, which is then not shown as the person's message. */
      readonly source?: TurnSource;
    };

/** One question to whichever model answers; the request is made anew for each one tried (ruling 7). */
export interface ModelTurn {
  readonly agentId: AgentId;
  readonly override?: ModelRef | undefined;
  request(ref: ModelRef, facts: ModelFacts): ModelRequest;
  readonly signal: AbortSignal;
  /** Where it belongs, for recordings; no model sees it. */
  readonly sessionKey?: SessionKey;
  readonly runId?: string;
}

export type TurnEvent =
  | ModelEvent
  /** From here on this model answers; what came before from another one does not count. */
  | { readonly type: "model"; readonly ref: ModelRef; readonly facts: ModelFacts }
  | { readonly type: "notice"; readonly text: string };

/** Never throws; the last event is `end` or `error`. With no model at all: `error` of kind `auth` and message "". */
export type StreamModel = (turn: ModelTurn) => AsyncIterable<TurnEvent>;
