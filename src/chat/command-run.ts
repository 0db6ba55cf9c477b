// The context of a command: its services, the sender, and the session.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/schema/index.ts";
import type { ApprovalBroker } from "../approval/broker.ts";
import type { ModelBook, ModelRef } from "../model/model.ts";
import { entryOf, patchSession, type SessionEntry } from "../session/session.ts";
import type { Subagents } from "../session/subagents.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import type { Admin, Override } from "../tool/admin.ts";
import type { CallTool } from "../tool/call.ts";
import type { Catalog } from "../tool/catalog.ts";
import { subjectOf, type Subject } from "../tool/subject.ts";
import type { Undo } from "../tool/undo/undo.ts";
import type { Agents } from "../agent/agent.ts";
import type { CommandContext, Directed, OnceSettings } from "../agent/direct.ts";

export interface DirectDeps {
  readonly store: Pick<Store, "sessions"> & Partial<Pick<Store, "transcript">>;
  config(): Config;
  readonly catalog: Pick<Catalog, "judge" | "rows">;
  readonly callTool: CallTool;
  /** A function, because the agents are created after the commands. */
  agents(): Pick<Agents, "active" | "abort" | "compact">;
  readonly models: Pick<ModelBook, "candidates" | "list" | "facts">;
  readonly clock: Clock;
  readonly version: string;
  readonly usage?: UsagePort;
  /** Absent without a running gateway. */
  readonly children?: () => Subagents;
  readonly prompt?: PromptPort;
  /** Runs the owner's hooks for these commands; returns their messages to the person. */
  readonly onCommand?: (command: {
    readonly action: "new" | "reset" | "stop";
    readonly sessionKey: SessionKey;
    readonly agentId: AgentId;
    readonly source: string;
    readonly senderId?: string | undefined;
  }) => Promise<readonly string[]>;
  /** Absent without a running gateway. */
  readonly admin?: () => Admin;
  /** Config overrides of this run. */
  readonly overrides?: () => readonly Override[];
  /** Absent when nothing is stored. */
  readonly undo?: Pick<Undo, "undo" | "list">;
  /** Absent where commands cannot wait for approval. */
  readonly approvals?: Pick<ApprovalBroker, "answer" | "pending" | "withdrawAll">;
}

/** The usage of sessions and agents; implemented by the ledger of the agents. */
export interface UsagePort {
  session(sessionKey: SessionKey): Promise<UsageTotals>;
  /** Usage of one agent since midnight. */
  today(agentId: AgentId): Promise<UsageTotals>;
}

export interface UsageTotals {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly costUsd: number;
  readonly calls: number;
}

/** The parts of the prompt that a session would send now. */
export interface PromptPort {
  parts(sessionKey: SessionKey): Promise<readonly { readonly name: string; readonly chars: number }[]>;
}

/** A slash command. One file each in `command/`, listed in `command/list.ts`. */
export interface Command {
  /** Without the slash. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** The arguments, for people. */
  readonly takes?: string;
  /** One line, for /commands. */
  readonly summary: string;
  /** Answered also inside a message; the rest goes to the model. */
  readonly shortcut?: boolean;
  /** Waits in the queue, because it changes the transcript, or can take long and must be stoppable. */
  readonly waits?: boolean;
  answer(args: string, commandRun: CommandRun): Promise<Directed>;
}

/** A command that can also be inside a message and then applies to that message only. */
export interface Directive extends Command {
  /** How many of the following words belong to it. Pure; gets only the next few words. */
  claims(words: readonly string[], aliases: ReadonlySet<string>): number;
  once(args: string, commandRun: CommandRun): Promise<Once>;
}

/** `refusal` keeps the message from the model. */
export interface Once {
  readonly settings?: OnceSettings;
  readonly note?: string;
  readonly refusal?: string;
}

export interface CommandRun {
  readonly deps: DirectDeps;
  readonly context: CommandContext;
  readonly config: Config;
  session(): Promise<SessionRecord | undefined>;
  entry(): Promise<SessionEntry>;
  /** `null` clears a field. */
  patch(fields: Readonly<Record<string, unknown>>): Promise<void>;
  /** The model that the session would use now. */
  model(): Promise<ModelRef | undefined>;
  subject(): Promise<Subject>;
}

export function createCommandRun(deps: DirectDeps, context: CommandContext, config: Config): CommandRun {
  // Listing models can search for servers, so one list serves a whole message.
  const inForce = new Map<string, Promise<readonly ModelRef[]>>();
  const commandRun: CommandRun = {
    deps,
    context,
    config,
    session: () => deps.store.sessions.get(context.sessionKey),
    async entry() {
      const record = await commandRun.session();
      return record === undefined ? {} : entryOf(record);
    },
    async patch(fields) {
      await patchSession(deps.store.sessions, context.sessionKey, deps.clock.now(), fields);
    },
    async model() {
      const override = overrideOf(await commandRun.entry());
      const choice = override === undefined ? "" : refText(override);
      const found = inForce.get(choice) ?? deps.models.candidates({ agentId: context.agentId, override });
      inForce.set(choice, found);
      return (await found)[0];
    },
    async subject() {
      const model = await commandRun.model();
      return subjectOf(
        { sessionKey: context.sessionKey, model: model === undefined ? undefined : refText(model) },
        config,
      );
    },
  };
  return commandRun;
}

export function overrideOf({ providerOverride, modelOverride }: SessionEntry): ModelRef | undefined {
  if (providerOverride === undefined || modelOverride === undefined) return undefined;
  return { provider: providerOverride, id: modelOverride };
}

export const refText = ({ provider, id }: ModelRef): string => `${provider}/${id}`;

export const answered = (text: string): Directed => ({ kind: "answered", text });
