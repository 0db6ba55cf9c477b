// The action of a webhook, built from fields of the sender, a rule of the config, or a script.
import { parseThinkingLevel, thinkingLevels, type ThinkingLevel } from "../../core/thinking-level.ts";
import { OpenClawError } from "../../core/error.ts";
import { parseAgentId, parseSessionKey, sessionKindOf, type AgentId, type SessionKey } from "../../core/names.ts";
import { visible } from "../../core/visible.ts";
import { agentIds, defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { isModelAllowed, nameOf, parseModelRef } from "../../model/catalog.ts";
import type { ModelRef } from "../../model/model.ts";
import type { WakeMode } from "../../session/wake.ts";

export type HookAction = WakeAction | AgentAction;

interface Shared {
  /** Shown to people and models as the source. */
  readonly name: string;
  readonly agentId: AgentId;
  readonly wakeMode: WakeMode;
  /** The owner trusts this webhook: its text is not marked as untrusted. */
  readonly isTrusted: boolean;
}

export interface WakeAction extends Shared {
  readonly kind: "wake";
  readonly text: string;
}

export interface AgentAction extends Shared {
  readonly kind: "agent";
  readonly message: string;
  /** Absent: a new session. */
  readonly sessionKey?: SessionKey;
  readonly deliver: boolean;
  /** `last`, or a configured platform. */
  readonly channel: string;
  readonly to?: string;
  readonly model?: ModelRef;
  readonly thinking?: ThinkingLevel;
  readonly timeoutMs?: number;
}

/** Who wrote the fields. A rule has the owner's trust; a sender, and what a script read from it, do not. */
export type Author = "sender" | "rule" | "script";

export interface Draft {
  readonly kind: "wake" | "agent";
  readonly author: Author;
  /** Used when the fields name none. */
  readonly name: string;
  readonly isTrusted: boolean;
  /** The session key contains a part of the payload. */
  readonly keyIsRead?: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

const MAX_NAME = 60;
const MAX_SECONDS = 86_400;
const wakeFields: ReadonlySet<string> = new Set(["text", "mode", "wakeMode", "name", "agentId"]);
const agentFields: ReadonlySet<string> = new Set(
  "message name agentId sessionKey wakeMode deliver channel to model thinking timeoutSeconds".split(" "),
);

/** Throws `hook.bad-request` for what the sender can fix, `hook.bad-rule` for what the owner must fix. */
export function settleAction(draft: Draft, config: Config, channels: readonly string[]): HookAction {
  const { kind, fields, author } = draft;
  const known = kind === "wake" ? wakeFields : agentFields;
  const unknown = Object.keys(fields).find((key) => !known.has(key));
  if (unknown !== undefined)
    throw wrong(author, `unknown field "${visible(unknown, 60)}"`, `a ${kind} takes: ${[...known].join(", ")}`);
  const shared: Shared = {
    name: plainName(textIn(draft, "name") ?? "") || plainName(draft.name) || "Hook",
    agentId: agentFor(draft, config),
    // As recorded from the published release: any other value means now.
    wakeMode: (fields["mode"] ?? fields["wakeMode"]) === "next-heartbeat" ? "next-heartbeat" : "now",
    isTrusted: draft.isTrusted,
  };
  if (kind === "wake") return { ...shared, kind, text: required(draft, "text") };
  return {
    ...shared,
    kind,
    message: required(draft, "message"),
    ...agentPart(draft, shared.agentId, config, channels),
  };
}

function agentPart(
  draft: Draft,
  agentId: AgentId,
  config: Config,
  channels: readonly string[],
): Omit<AgentAction, "kind" | "message" | keyof Shared> {
  const { fields, author } = draft;
  const { deliver = true } = fields;
  if (typeof deliver !== "boolean") throw wrong(author, "deliver must be true or false");
  const channel = textIn(draft, "channel")?.trim() ?? "last";
  if (channel !== "last" && !channels.includes(channel))
    throw wrong(
      author,
      `channel must be ${["last", ...channels].join(" or ")}`,
      "leave it out for the last channel used",
    );
  const to = textIn(draft, "to");
  const sessionKey = sessionFor(draft, agentId, config);
  const model = modelFor(draft, config);
  const thinking = thinkingFor(draft);
  const timeoutMs = timeoutFor(draft);
  return {
    deliver,
    channel,
    ...(to === undefined ? {} : { to }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** The name is shown outside the untrusted marks, so it is reduced to a name that cannot read as a sentence. */
function plainName(given: string): string {
  const words = given.replaceAll(/[^\p{L}\p{M}\p{N}\p{So} ._@/#+-]+|[.](?![\p{L}\p{N}])/gu, " ").replaceAll(/ +/g, " ");
  return visible(words.trim().slice(0, MAX_NAME).toWellFormed());
}

/** Matches exactly, without trimming, case folding or a fallback (test/attack/README.md, GWY-041). */
function agentFor(draft: Draft, config: Config): AgentId {
  const { author } = draft;
  const usual = defaultAgentId(config);
  const given = textIn(draft, "agentId");
  const agent = agentIds(config).find((id) => id === (given ?? usual));
  const allowed = config.hooks?.allowedAgentIds;
  if (agent === undefined)
    throw wrong(author, `there is no agent "${visible(given ?? "", 60)}"`, `known: ${agentIds(config).join(", ")}`);
  const isFine = allowed === undefined ? author === "rule" || agent === usual : isListed(agent, allowed);
  if (isFine) return agent;
  throw wrong(author, `webhooks may not run agent ${agent}`, "hooks.allowedAgentIds names those they may run");
}

function isListed(agent: AgentId, allowed: readonly string[]): boolean {
  return allowed.includes("*") || allowed.some((id) => parseAgentId(id) === agent);
}

/** The owner may name any session; every other author only sessions below `hook:` (GWY-042). */
function sessionFor(draft: Draft, agentId: AgentId, config: Config): SessionKey | undefined {
  const { author, keyIsRead } = draft;
  const given = textIn(draft, "sessionKey")?.trim();
  if (given === undefined) return undefined;
  if (author === "sender" && config.hooks?.allowRequestSessionKey !== true)
    throw wrong(
      author,
      "a request cannot choose sessionKey",
      "the owner can allow it with hooks.allowRequestSessionKey",
    );
  const isOwners = author === "rule" && keyIsRead !== true;
  const key = keyOf(given, agentId, config, author);
  const named = given.toLowerCase();
  if (isOwners || (named.startsWith("hook:") && sessionKindOf(key, mainKeyOf(config)) === "hook")) return key;
  throw wrong(author, "sessionKey must start with hook:", "such as hook:deploys");
}

function keyOf(given: string, agentId: AgentId, config: Config, author: Author): SessionKey {
  const context = { defaultAgent: defaultAgentId(config), mainKey: mainKeyOf(config) };
  try {
    const key = parseSessionKey(given, context, agentId);
    if (!key.startsWith(`agent:${agentId}:`))
      throw wrong(author, `sessionKey belongs to another agent than ${agentId}`);
    return key;
  } catch (error) {
    if (!(error instanceof OpenClawError) || error.code.startsWith("hook.")) throw error;
    throw wrong(author, error.message, error.hint);
  }
}

function modelFor(draft: Draft, config: Config): ModelRef | undefined {
  const given = textIn(draft, "model");
  if (given === undefined) return undefined;
  const ref = parseModelRef(given, config);
  if (ref === undefined) throw wrong(draft.author, "model must look like provider/model");
  if (isModelAllowed(config, ref)) return ref;
  throw wrong(
    draft.author,
    `model ${visible(nameOf(ref), 80)} is not allowed`,
    "agents.defaults.models lists the allowed models",
  );
}

function thinkingFor(draft: Draft): ThinkingLevel | undefined {
  const given = textIn(draft, "thinking");
  if (given === undefined) return undefined;
  const level = parseThinkingLevel(given);
  if (level === undefined) throw wrong(draft.author, `thinking must be one of ${thinkingLevels.join(", ")}`);
  return level;
}

function timeoutFor({ fields, author }: Draft): number | undefined {
  const given = fields["timeoutSeconds"];
  if (given === undefined) return undefined;
  if (typeof given === "number" && given > 0 && given <= MAX_SECONDS) return Math.ceil(given * 1000);
  throw wrong(author, `timeoutSeconds must be a number above 0 and at most ${MAX_SECONDS}`);
}

function required(draft: Draft, field: string): string {
  const value = textIn(draft, field)?.trim() ?? "";
  if (value !== "") return value;
  if (draft.author === "sender") throw wrong("sender", `${field} required`);
  throw wrong("sender", `the payload has no text for ${field}`, "see messageTemplate or textTemplate of the rule");
}

function textIn({ fields, author }: Draft, field: string): string | undefined {
  const value = fields[field];
  if (value === undefined || typeof value === "string") return value;
  throw wrong(author, `${field} must be a string`);
}

function wrong(author: Author, message: string, hint?: string): OpenClawError {
  const code = author === "sender" ? "hook.bad-request" : "hook.bad-rule";
  return new OpenClawError(code, message, hint === undefined ? {} : { hint });
}
