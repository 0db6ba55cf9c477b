// Builds the requests of one turn (prompt, tools, limits) for the model that answers, and counts its usage.
import type { ThinkingLevel } from "../core/thinking-level.ts";
import type { RunFailure } from "../core/event.ts";
import type { Message } from "../core/message.ts";
import { sessionKindOf, type AgentId } from "../core/names.ts";
import { visible } from "../core/visible.ts";
import { agentConfig, mainKeyOf, workspaceOf } from "../config/agents.ts";
import type { ModelFacts, ModelRef, ModelRequest } from "../model/model.ts";
import type { Catalog } from "../tool/catalog.ts";
import { subjectOf, type Subject } from "../tool/subject.ts";
import type { Budget } from "./budget.ts";
import { weighContext, type ContextWeight, type WeighedRequest } from "./context-weight.ts";
import type { AgentsDeps, StreamModel, TurnEvent } from "./deps.ts";
import { tokensIn } from "./estimate.ts";
import { CHARS_PER_TOKEN } from "./limits.ts";
import { pruneResults } from "./prune.ts";
import type { BootstrapRequest, ReadBootstrap } from "./prompt/files.ts";
import { systemPrompt } from "./prompt/system.ts";
import { dropOldImages, repairMessages } from "./valid-messages.ts";
import { cutText } from "./result.ts";
import type { SessionRef } from "./fit-context.ts";
import { timeZoneOf } from "./stamp.ts";
import type { TurnRequest } from "../session/turns.ts";

export interface TurnModel {
  /** The subject of tool calls, under the policy of the model in use (docs/decisions/0007-by-provider-most-specific.md). */
  readonly subject: () => Subject;
  readonly stream: (messages: readonly Message[], signal: AbortSignal) => AsyncIterable<TurnEvent>;
  /** A plain request of the gateway, without tools. */
  readonly ask: (plain: Pick<ModelRequest, "system" | "messages">, signal: AbortSignal) => AsyncIterable<TurnEvent>;
  readonly reserve: (messages: readonly Message[]) => Promise<RunFailure | undefined>;
  /** Tokens of prompt and schemas. */
  readonly overhead: () => number;
  readonly weight: () => ContextWeight;
  /** Whether the caller's own limit leaves tokens for another answer. */
  readonly hasCapacity: () => boolean;
}

export interface TurnModelDeps {
  readonly runtime: AgentsDeps;
  readonly streamModel: StreamModel;
  readonly readBootstrap: ReadBootstrap;
  readonly budget: Budget;
}

export interface TurnModelOptions {
  readonly agentId: AgentId;
  readonly sessionRef: SessionRef;
  readonly primary: ModelRef;
  readonly override: ModelRef | undefined;
  readonly runId?: string;
  readonly thinking: ThinkingLevel | undefined;
  readonly extraSystem?: string | undefined;
  readonly limits?: Subject["limits"];
  readonly clientTools?: TurnRequest["clientTools"];
  readonly settings?: TurnRequest["settings"];
}

export function createTurnModel(
  { runtime, streamModel, readBootstrap, budget }: TurnModelDeps,
  options: TurnModelOptions,
): TurnModel {
  const { agentId, sessionRef, override, runId } = options;
  const named = { agentId, override, sessionKey: sessionRef.record.key, ...(runId === undefined ? {} : { runId }) };
  const { limits = [] } = options;
  const base: Subject = {
    ...subjectOf({ sessionKey: sessionRef.record.key }, runtime.config()),
    ...(limits.length === 0 ? {} : { limits }),
  };
  let inUse = { ref: options.primary, facts: runtime.models.facts(options.primary) };
  let written = 0;
  const leftFor = (): number => (options.settings?.maxOutputTokens ?? Infinity) - written;
  const frames = new Map<string, Frame>();

  const frameFor = (ref: ModelRef): Frame => {
    const name = `${ref.provider}/${ref.id}`;
    const known = frames.get(name);
    if (known !== undefined) return known;
    const frame = requestFrame(runtime, { ...base, model: name }, options, readBootstrap);
    frames.set(name, frame);
    return frame;
  };
  async function* metered(events: AsyncIterable<TurnEvent>): AsyncIterable<TurnEvent> {
    let isSettled = false;
    const settle = (usage?: Parameters<Budget["settle"]>[0]): void => {
      if (!isSettled) budget.settle(usage, inUse.facts, inUse.ref);
      isSettled = true;
    };
    try {
      for await (const event of events) {
        if (event.type === "model") inUse = { ref: event.ref, facts: event.facts };
        if (event.type === "end") {
          settle(event.usage);
          written += event.usage.output;
        }
        yield event;
      }
    } finally {
      settle();
    }
  }
  const prunedFor = ({ contextWindow }: ModelFacts, messages: readonly Message[]): readonly Message[] =>
    pruneResults(messages, runtime.config().agents?.defaults?.contextPruning, contextWindow, runtime.clock.now());
  const limitsFor = (facts: ModelFacts): Pick<ModelRequest, "maxTokens" | "thinking" | "cacheKey"> => ({
    thinking: options.thinking ?? (facts.reasoning ? "low" : "off"),
    maxTokens: budget.granted(facts),
    cacheKey: sessionRef.record.sessionId,
  });
  return {
    subject: () => ({ ...base, model: `${inUse.ref.provider}/${inUse.ref.id}` }),
    stream: (messages, signal) =>
      metered(
        streamModel({
          ...named,
          signal,
          request: (ref, facts) => ({
            ...frameFor(ref).request,
            messages: sendable(prunedFor(facts, messages), facts),
            ...limitsFor(facts),
            maxTokens: Math.max(1, Math.min(budget.granted(facts), leftFor())),
            ...(options.settings === undefined ? {} : { settings: options.settings }),
          }),
        }),
      ),
    ask: (plain, signal) =>
      metered(
        streamModel({
          ...named,
          signal,
          request: (_ref, facts) => ({ ...plain, tools: [], ...limitsFor(facts), thinking: "off" }),
        }),
      ),
    reserve: (messages) => budget.reserve(tokensIn(messages) + overheadOf(frameFor(inUse.ref).request), inUse.facts),
    overhead: () => overheadOf(frameFor(inUse.ref).request),
    weight() {
      const { request, ...parts } = frameFor(inUse.ref);
      const { key, sessionId } = sessionRef.record;
      const mode =
        agentConfig(runtime.config(), agentId)?.sandbox?.mode ?? runtime.config().agents?.defaults?.sandbox?.mode;
      return weighContext({
        ...parts,
        now: runtime.clock.now(),
        sessionId,
        sessionKey: key,
        ref: inUse.ref,
        sandbox: { mode: mode ?? "off", sandboxed: base.sandboxed },
        system: request.system,
      });
    },
    hasCapacity: () => leftFor() > 0,
  };
}

/** Shortened, because an agent can set its own name and must not add a paragraph to the prompt. */
const shortName = (name: string | undefined): string | undefined =>
  name === undefined || name.trim() === "" ? undefined : visible(name.trim(), 60);

/** The part of a request before the messages, and its components. */
interface Frame extends Pick<WeighedRequest, "files" | "offered" | "workspace" | "bootstrapMaxChars"> {
  readonly request: Pick<ModelRequest, "system" | "tools">;
}

function requestFrame(
  runtime: AgentsDeps,
  subject: Subject,
  options: TurnModelOptions,
  readBootstrap: ReadBootstrap,
): Frame {
  const config = runtime.config();
  const { workspace, inside = workspace, agentWorkspace } = runtime.catalog.surroundings(subject);
  const { clientTools = [] } = options;
  // When the caller has a tool of the same name, calls go to the caller.
  const offered: ReturnType<Catalog["offered"]> = runtime.catalog
    .offered(subject)
    .filter(({ name }) => !clientTools.some((tool) => tool.name === name));
  const own = agentConfig(config, options.agentId);
  const bootstrap = bootstrapRequest(runtime, subject);
  const files = readBootstrap(bootstrap);
  const system = systemPrompt({
    mode: bootstrap.mode,
    agentId: options.agentId,
    name: shortName(own?.identity?.name ?? own?.name),
    tools: offered,
    workspace: inside,
    agentFolder: agentWorkspace !== undefined,
    timeZone: timeZoneOf(config.agents?.defaults?.userTimezone),
    os: process.platform,
    sandboxed: subject.sandboxed,
    files,
  });
  const request = {
    system: options.extraSystem === undefined ? system : `${system}\n\n${options.extraSystem}`,
    tools: [...offered.map(({ name, description, parameters }) => ({ name, description, parameters })), ...clientTools],
  };
  return { request, files, offered, workspace, bootstrapMaxChars: bootstrap.maxChars };
}

/** Which files of the workspace go into the prompt of this subject. */
export function bootstrapRequest(runtime: AgentsDeps, subject: Subject): BootstrapRequest {
  const config = runtime.config();
  const workspace = workspaceOf(config, subject.agent, runtime.paths);
  // Sessions that share a sandbox can write these files, so a sandboxed session is never the main one.
  const isOwn = runtime.catalog.surroundings(subject).workspace === workspace;
  return {
    workspace,
    mode: subject.subagent ? "minimal" : "full",
    isMain: isOwn && sessionKindOf(subject.session, mainKeyOf(config)) === "main",
    maxChars: config.agents?.defaults?.bootstrapMaxChars ?? 20_000,
  };
}

/** Messages that every vendor accepts; a message that is too long is cut to half of the window. */
export function sendable(messages: readonly Message[], { contextWindow, input }: ModelFacts): Message[] {
  const maxChars = Math.floor((contextWindow * CHARS_PER_TOKEN) / 2);
  const fitting = dropOldImages(repairMessages(messages)).map((message) => shortened(message, maxChars));
  return input.includes("image") ? fitting : fitting.map((message) => withoutImages(message));
}

function shortened(message: Message, maxChars: number): Message {
  if (!message.content.some((block) => block.type === "text" && block.text.length > maxChars)) return message;
  const content = message.content.map((block) =>
    block.type === "text" ? { ...block, text: cutText(block.text, maxChars) } : block,
  );
  return { ...message, content } as Message;
}

function withoutImages(message: Message): Message {
  if (!message.content.some(({ type }) => type === "image")) return message;
  const content = message.content.map((block) =>
    block.type === "image" ? { type: "text" as const, text: "[an image that this model cannot read]" } : block,
  );
  return { ...message, content } as Message;
}

function overheadOf({ system, tools }: Pick<ModelRequest, "system" | "tools">): number {
  const chars = tools.reduce((sum, tool) => sum + charsOf(tool), system.length);
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** Schemas are the same objects in every turn, so their size is cached. */
const schemaChars = new WeakMap<object, number>();

function charsOf({ name, description, parameters }: ModelRequest["tools"][number]): number {
  const schema = parameters as object;
  const known = schemaChars.get(schema) ?? JSON.stringify(schema).length;
  schemaChars.set(schema, known);
  return JSON.stringify({ name, description, parameters: 0 }).length + known;
}
