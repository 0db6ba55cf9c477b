// What the agents need from other parts; the app wires it, so that this folder knows no vendor, tool or command.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { Paths } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import type { ModelBook, ModelEvent, ModelFacts, ModelRef, ModelRequest } from "../model/model.ts";
import type { SystemEvents } from "../session/system-events.ts";
import type { Store } from "../store/store.ts";
import type { CallTool } from "../tool/call.ts";
import type { Catalog } from "../tool/catalog.ts";
import type { Budgets } from "./budget.ts";
import type { CommandContext, Direct } from "./direct.ts";
import type { Ledger } from "./ledger.ts";
import type { MediaMessage, UnderstoodMessage } from "./media/understand.ts";

export interface AgentsDeps {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly callTool: CallTool;
  readonly models: ModelBook;
  /** Shared with the parts that show usage; created here when absent. */
  readonly ledger?: Ledger;
  /** Shared with questions outside of turns; created here when absent. */
  readonly budgets?: Budgets;
  /** Streams a model turn with retry and failover; default: `createStreamModel` of model/retry.ts. */
  readonly streamModel?: StreamModel;
  /** Slash commands and directives, applied before the model. */
  readonly direct: Direct;
  /**
   * Whether a message is only a command (`IsUrgent`), which runs immediately, also during a run. Without it
   * a few commands are recognized by name.
   */
  readonly isUrgent?: (
    text: string,
    context: Pick<CommandContext, "authorised" | "source">,
  ) => boolean | Promise<boolean>;
  readonly config: () => Config;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: Mask;
  /** Milliseconds until a write that a full disk rejected is tried again. */
  readonly retryMs?: number;
  /** Notes that a session reads with its next turn. */
  readonly systemEvents?: SystemEvents;
  /** Hooks of the owner that may change the bootstrap files; undefined while there are none. */
  readonly onBootstrap?: () => BootstrapHook | undefined;
  /** Turns attachments into text (`tools.media`); without it only pictures reach the model. */
  readonly understandMedia?: (message: MediaMessage) => Promise<UnderstoodMessage>;
  /** Called before a session is summarized, so that lasting facts can be stored first. */
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
  /** Shown to the person. */
  readonly messages: readonly string[];
  readonly bootstrapFiles?: readonly { readonly name: string; readonly content: string }[];
}>;

/** One request to the model that answers; built again for each model tried (docs/decisions/0007-by-provider-most-specific.md). */
export interface ModelTurn {
  readonly agentId: AgentId;
  readonly override?: ModelRef | undefined;
  request(ref: ModelRef, facts: ModelFacts): ModelRequest;
  readonly signal: AbortSignal;
  /** For recordings; models do not see it. */
  readonly sessionKey?: SessionKey;
  readonly runId?: string;
}

export type TurnEvent =
  | ModelEvent
  /** From here on this model answers; output of an earlier one is discarded. */
  | { readonly type: "model"; readonly ref: ModelRef; readonly facts: ModelFacts }
  | { readonly type: "notice"; readonly text: string };

/** Never throws; the last event is `end` or `error`. */
export type StreamModel = (turn: ModelTurn) => AsyncIterable<TurnEvent>;
