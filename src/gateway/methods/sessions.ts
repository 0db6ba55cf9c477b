// Sessions, their history, and the agents they belong to.
import { setTimeout as sleep } from "node:timers/promises";

import { thinkingLevels } from "../../core/thinking-level.ts";
import { OpenClawError } from "../../core/error.ts";
import { parseAgentId, parseSessionKey, mainSessionKey, type KeyContext, type SessionKey } from "../../core/names.ts";
import { textOf, type AssistantMessage } from "../../core/message.ts";
import * as methods from "../../protocol/methods/sessions.ts";
import type { Agents } from "../../agent/agent.ts";
import { activityOf } from "../../agent/activity.ts";
import type { Ledger } from "../../agent/ledger.ts";
import { agentConfig, agentIds, defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import { avatarUrl } from "../../config/avatar.ts";
import { lastText, readHistory } from "../../session/history.ts";
import { toWireRow } from "../../session/rows.ts";
import { entryOf, findSession, patchSession, requireSession, resetSession } from "../../session/session.ts";
import { appendMessage } from "../../session/transcript.ts";
import type { SessionRecord } from "../../store/store.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

const MAX_HISTORY_BYTES = 400_000;
const MAX_ROWS = 1000;

const STOP_MS = 15_000;

/** In the recorded order, which hello-ok announces. */
export function sessionMethods(context: GatewayContext, agents: Agents, ledger: Pick<Ledger, "book">): Served[] {
  return [
    ...lookupMethods(context),
    ...changeMethods(context, agents),
    ...messageMethods(context, ledger),
    ...agentInfoMethods(context),
  ];
}

function keysOf({ config }: GatewayContext): KeyContext {
  return { defaultAgent: defaultAgentId(config()), mainKey: mainKeyOf(config()) };
}

function lookupMethods(context: GatewayContext): Served[] {
  const { clock } = context;
  const { sessions, transcript } = context.store;
  return [
    serve(methods.sessionsList)(async (params) => {
      const { agentId, label, search, spawnedBy, activeMinutes, limit } = params;
      const records = await sessions.list({
        ...(agentId === undefined ? {} : { agentId: parseAgentId(agentId) }),
        ...(label === undefined ? {} : { label }),
        ...(search === undefined || search === "" ? {} : { search }),
        ...(spawnedBy === undefined ? {} : { spawnedBy: parseSessionKey(spawnedBy, keysOf(context)) }),
        ...(activeMinutes === undefined ? {} : { activeSince: clock.now() - activeMinutes * 60_000 }),
        limit: Math.min(limit ?? MAX_ROWS, MAX_ROWS),
      });
      const listed = records.filter(
        ({ key }) =>
          (key !== "global" || params.includeGlobal === true) && (key !== "unknown" || params.includeUnknown === true),
      );
      const rows = await Promise.all(listed.map((record) => rowWith(record, params, context)));
      return {
        ts: clock.now(),
        path: context.storeFile,
        count: rows.length,
        defaults: defaultModel(context),
        sessions: rows,
      };
    }),
    serve(methods.sessionsPreview)(async ({ keys: wanted, limit = 12, maxChars = 240 }) => ({
      ts: clock.now(),
      previews: await Promise.all(
        wanted.map(async (key) => {
          const record = await findSession(sessions, key, keysOf(context));
          if (record === undefined) return { key, status: "missing", items: [] };
          const { messages } = await readHistory(transcript, record, {
            limit: Math.min(limit, 50),
            includeTools: false,
            maxBytes: 64_000,
            mask: context.mask,
          });
          return {
            key,
            status: "ok",
            items: messages.map(({ role, content }) => ({
              role,
              text: textOf(content).slice(0, maxChars).toWellFormed(),
            })),
          };
        }),
      ),
    })),
    serve(methods.sessionsResolve)(async (params) => {
      const found = await resolve(params, context);
      if (found === undefined)
        throw new OpenClawError(
          "session.unknown",
          `No session found: ${params.key ?? params.sessionId ?? params.label ?? ""}`,
        );
      return { ok: true, key: found.key };
    }),
  ];
}

function changeMethods(context: GatewayContext, agents: Agents): Served[] {
  const { clock } = context;
  const { sessions } = context.store;
  return [
    serve(methods.sessionsPatch)(async ({ key: raw, ...patch }) => {
      const key = parseSessionKey(raw, keysOf(context));
      subjectOf({ sessionKey: key }, context.config());
      const record = await patchSession(sessions, key, clock.now(), checkedPatch(patch));
      return { ok: true, path: context.storeFile, key, entry: toEntry(record), resolved: {} };
    }),
    serve(methods.sessionsReset)(async ({ key: raw }) => {
      const key = parseSessionKey(raw, keysOf(context));
      subjectOf({ sessionKey: key }, context.config());
      await context.approvals.withdrawAll(key, "its session was reset");
      await stopRuns(agents, key, "its session was reset");
      return { ok: true, key, entry: toEntry(await resetSession(sessions, key, clock.now())) };
    }),
    serve(methods.sessionsDelete)(async ({ key: raw, deleteTranscript = true }) => {
      const key = parseSessionKey(raw, keysOf(context));
      const { defaultAgent, mainKey } = keysOf(context);
      const main = mainSessionKey(defaultAgent, mainKey);
      if (key === main)
        throw new OpenClawError("session.main", `Cannot delete the main session (${main}).`, {
          hint: "openclaw gateway call sessions.reset",
        });
      await context.approvals.withdrawAll(key, "its session was deleted");
      await stopRuns(agents, key, "its session was deleted");
      await context.undo?.forget(key);
      return { ok: true, key, deleted: await sessions.delete(key, { transcript: deleteTranscript }), archived: [] };
    }),
  ];
}

function messageMethods(context: GatewayContext, ledger: Pick<Ledger, "book">): Served[] {
  const { clock, store } = context;
  const { sessions, transcript } = store;
  return [
    serve(methods.chatHistory)(async ({ sessionKey, limit = 200 }) => {
      const record = await findSession(sessions, sessionKey, keysOf(context));
      if (record === undefined) return { sessionKey, messages: [], thinkingLevel: "off" };
      const { messages } = await readHistory(transcript, record, {
        limit,
        includeTools: true,
        includeCommands: true,
        maxBytes: MAX_HISTORY_BYTES,
        mask: context.mask,
      });
      const { thinkingLevel = "off", verboseLevel } = entryOf(record);
      return {
        sessionKey,
        sessionId: record.sessionId,
        messages,
        thinkingLevel,
        ...(verboseLevel === undefined ? {} : { verboseLevel }),
      };
    }),
    serve(methods.chatInject)(async ({ sessionKey, message: text, label }) => {
      const record = await findSession(sessions, sessionKey, keysOf(context));
      if (record === undefined)
        throw new OpenClawError("session.unknown", "session not found", { hint: "openclaw sessions" });
      const message: AssistantMessage = {
        role: "assistant",
        content: [{ type: "text", text: label === undefined ? text : `[${label}]\n\n${text}` }],
        timestamp: clock.now(),
        stopReason: "stop",
      };
      const { agentId, key } = record;
      const book = await ledger.book({ agentId, sessionKey: key, used: [], activity: activityOf(message) });
      const [{ messageId }] = await Promise.all([appendMessage(store, record, message), book()]);
      context.hub.broadcast("chat", {
        runId: `inject-${messageId}`,
        sessionKey: record.key,
        seq: 0,
        state: "final",
        message,
      });
      return { ok: true, messageId };
    }),
  ];
}

function agentInfoMethods(context: GatewayContext): Served[] {
  return [
    serve(methods.agentsList)(() => {
      const config = context.config();
      return {
        defaultId: defaultAgentId(config),
        mainKey: mainKeyOf(config),
        scope: config.session?.scope ?? "per-sender",
        agents: agentIds(config).map((id) => {
          const { name, identity } = agentConfig(config, id) ?? {};
          const picture = avatarUrl(config, id);
          const shown =
            identity === undefined || picture === undefined ? identity : { ...identity, avatarUrl: picture };
          return { id, ...(name === undefined ? {} : { name }), ...(shown === undefined ? {} : { identity: shown }) };
        }),
      };
    }),
    serve(methods.agentIdentityGet)(({ agentId, sessionKey }) => {
      const config = context.config();
      const { agent } = subjectOf({ agentId, sessionKey: sessionKey === "" ? undefined : sessionKey }, config);
      const own = agentConfig(config, agent);
      return {
        agentId: agent,
        name: own?.identity?.name ?? own?.name ?? config.ui?.assistant?.name ?? agent,
        avatar: avatarUrl(config, agent) ?? initialsOf(own?.identity) ?? agent.slice(0, 1).toUpperCase(),
      };
    }),
  ];
}

async function rowWith(
  record: SessionRecord,
  options: { includeLastMessage?: boolean; includeDerivedTitles?: boolean },
  { store, mask }: GatewayContext,
): Promise<methods.SessionRow> {
  const row = toWireRow(record);
  if (options.includeLastMessage !== true && options.includeDerivedTitles !== true) return row;
  const preview = await lastText(store.transcript, record, 240, mask);
  return {
    ...row,
    ...(options.includeLastMessage === true && preview !== undefined ? { lastMessagePreview: preview } : {}),
    ...(options.includeDerivedTitles === true ? { derivedTitle: record.label ?? record.key } : {}),
  };
}

async function resolve(
  params: { key?: string; sessionId?: string; label?: string; agentId?: string; spawnedBy?: string },
  context: GatewayContext,
): Promise<SessionRecord | undefined> {
  const { sessions } = context.store;
  const keys = keysOf(context);
  if (params.key !== undefined) return requireSession(sessions, params.key, keys);
  if (params.sessionId !== undefined) return sessions.byId(params.sessionId);
  if (params.label === undefined)
    throw new OpenClawError("wire.invalid-request", "give one of key, sessionId or label");
  const agent = params.agentId === undefined ? {} : { agentId: parseAgentId(params.agentId) };
  const spawned = params.spawnedBy === undefined ? {} : { spawnedBy: parseSessionKey(params.spawnedBy, keys) };
  return (await sessions.list({ label: params.label, ...agent, ...spawned, limit: 1 }))[0];
}

/** Initials or an emoji, shown when there is no image. */
function initialsOf(identity: { readonly avatar?: string; readonly emoji?: string } | undefined): string | undefined {
  const { avatar, emoji } = identity ?? {};
  return avatar !== undefined && avatar !== "" && !/[/.:]/.test(avatar) ? avatar : emoji;
}

/** The model of a session without an override, by the config alone. */
function defaultModel({ config }: GatewayContext): {
  modelProvider: string | null;
  model: string | null;
  contextTokens: number | null;
} {
  const choice = config().agents?.defaults?.model;
  const primary = typeof choice === "string" ? choice : choice?.primary;
  const slash = primary?.indexOf("/") ?? -1;
  if (primary === undefined || slash <= 0) return { modelProvider: null, model: null, contextTokens: null };
  return {
    modelProvider: primary.slice(0, slash),
    model: primary.slice(slash + 1),
    contextTokens: config().agents?.defaults?.contextTokens ?? null,
  };
}

const levelsOf: Readonly<Record<string, readonly string[]>> = {
  thinkingLevel: thinkingLevels,
  verboseLevel: ["off", "on", "full"],
  reasoningLevel: ["off", "on", "stream"],
  elevatedLevel: ["off", "on", "ask", "full"],
  execHost: ["sandbox", "gateway", "node"],
  execSecurity: ["deny", "allowlist", "full"],
  execAsk: ["off", "on-miss", "always"],
};

/** Rejects unknown levels and splits a model reference into its two overrides. */
function checkedPatch(patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
  for (const [field, allowed] of Object.entries(levelsOf)) {
    const value = patch[field];
    if (value === undefined || value === null || (typeof value === "string" && allowed.includes(value))) continue;
    throw new OpenClawError("session.bad-level", `invalid ${field} (use ${allowed.join("|")})`);
  }
  const { model, ...rest } = patch;
  if (model === undefined) return rest;
  if (model === null) return { ...rest, providerOverride: null, modelOverride: null };
  const reference = typeof model === "string" ? model : "";
  const slash = reference.indexOf("/");
  if (slash <= 0)
    throw new OpenClawError("model.bad-reference", `not a model reference: ${reference}`, {
      hint: "write provider/model",
    });
  return { ...rest, providerOverride: reference.slice(0, slash), modelOverride: reference.slice(slash + 1) };
}

function toEntry(record: SessionRecord): methods.StoredSession {
  const { sessionId, updatedAt, label, spawnedBy, entry } = record;
  return {
    sessionId,
    updatedAt,
    ...(label === undefined ? {} : { label }),
    ...(spawnedBy === undefined ? {} : { spawnedBy }),
    ...entry,
  };
}

/** Before a session is reset or deleted; its subagents continue, and their results wait. */
async function stopRuns(agents: Agents, session: SessionKey, reason: string): Promise<void> {
  const stopped = agents.abort({ sessionKey: session }, reason).then(() => true);
  if (await Promise.race([stopped, sleep(STOP_MS, false, { ref: false })])) return;
  throw new OpenClawError("session.busy", `the run of ${session} does not stop`, { hint: "try again in a moment" });
}
