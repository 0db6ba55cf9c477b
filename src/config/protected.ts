// Decides which settings an agent may change; every key that is not listed as harmless needs the owner's approval.
import { isDeepStrictEqual } from "node:util";

import { parseAgentId, type AgentId } from "../core/names.ts";
import { isRecord } from "../core/record.ts";
import { formatPath, getAt, type ConfigPath, type Segment } from "./path.ts";

export interface ProtectedChange {
  /** As people write it: `agents.list[0].tools.exec.ask`. */
  readonly path: string;
  readonly change: "set" | "changed" | "removed";
  readonly reason: string;
}

/** One side of a change: the parsed text, and the same with includes and variables resolved. */
export interface ConfigSide {
  readonly source: unknown;
  readonly parsed: unknown;
}

/** The parts of a change by that agent that need the owner, and why. Empty when all of it is harmless. Pure. */
export function protectedChanges(before: ConfigSide, after: ConfigSide, agent?: AgentId): ProtectedChange[] {
  const written = changedLeaves(before.source, after.source, []).flatMap(({ path, from, to }) => {
    const reason = writtenReason(path, to);
    return reason === undefined ? [] : [toChange(path, from, to, reason)];
  });
  const meant = changedLeaves(before.parsed, after.parsed, []).flatMap(({ path, from, to }) => {
    const reason = protectedReason(path) ?? othersReason(path, before.parsed, agent);
    return reason === undefined ? [] : [toChange(path, from, to, reason)];
  });
  return [...new Map([...written, ...meant].map((one) => [one.path, one])).values()];
}

/** Why a path needs the owner; undefined when an agent may change it. */
export function protectedReason(path: ConfigPath): string | undefined {
  const named = protectedPaths.find(([pattern]) => begins(pattern, path));
  if (named !== undefined) return named[1];
  return openPaths.some((pattern) => begins(pattern, path)) ? undefined : UNKNOWN;
}

const UNKNOWN = "is not known to be harmless";

/**
 * Names and models of other agents: a setting that is harmless for one agent may be an instruction to another with more
 * rights.
 */
function othersReason([first, list, at]: ConfigPath, parsed: unknown, agent?: AgentId): string | undefined {
  if (agent === undefined || first !== "agents" || list !== "list" || at === undefined) return undefined;
  const id = getAt(parsed, ["agents", "list", at, "id"]);
  return typeof id === "string" && parseAgentId(id) === agent ? undefined : "belongs to another agent";
}

/**
 * Dots between segments; `*` means any one segment. The first entry that matches the start of a path gives the reason.
 */
export const protectedPaths: readonly (readonly [pattern: string, reason: string])[] = [
  ["tools", "decides which tools run and under which rules"],
  ["agents.*.tools", "decides which tools an agent has"],
  ["agents.list.*.tools", "decides which tools an agent has"],
  ["agents.*.sandbox", "decides what the sandbox allows"],
  ["agents.list.*.sandbox", "decides what the sandbox allows"],
  ["agents.defaults.elevatedDefault", "lets commands leave the sandbox"],
  ["agents.defaults.cliBackends", "names programs that are started"],
  ["agents.list.*.subagents", "decides whom an agent may give work to"],
  ["agents.list.*.workspace", "decides which files tools reach"],
  ["agents.defaults.workspace", "decides which files tools reach"],
  ...[
    "agents.defaults.heartbeat.prompt",
    "agents.list.*.heartbeat.prompt",
    "agents.defaults.compaction.memoryFlush",
  ].map((path) => [path, "is the prompt of agents in unattended turns"] as const),
  ["agents.defaults.budget", "limits what agents may spend"],
  ["agents.list.*.budget", "limits what agents may spend"],
  ["gateway.auth", "decides who may connect"],
  ["gateway.bind", "decides who can reach the gateway"],
  ["gateway", "decides who can reach the gateway, and how"],
  ["channels.*.allowFrom", "decides who may write to agents"],
  ["channels", "decides who may write to agents, and where"],
  ["commands", "decides what people may do from a chat"],
  ["plugins", "loads code"],
  ["mcp", "starts programs and sends data to other machines"],
  ["hooks", "lets other programs start work, and loads code"],
  ["approvals", "decides who is asked for approval"],
  ["env", "changes the environment of the gateway"],
  ["models", "decides where conversations and keys are sent"],
  ["auth.profiles", "names credentials"],
  ["auth.order", "names credentials"],
  ["bindings", "decides which agent answers whom"],
  ["broadcast", "decides which agent answers whom"],
  ["session.sendPolicy", "decides where replies may go"],
  ["session.dmScope", "decides who shares a conversation"],
  ["session.scope", "decides who shares a conversation"],
  ["session.identityLinks", "decides who counts as the same person"],
  ["session.store", "moves stored data"],
  ["skills", "loads instructions and variables from elsewhere"],
  ["browser", "starts programs and reaches other machines"],
  ["nodeHost", "opens this machine to others"],
  ["canvasHost", "serves files"],
  ["memory.qmd", "names programs that are started"],
  ["discovery", "announces the gateway on the network"],
  ["logging.file", "writes to a configurable path"],
  ["logging.redactSensitive", "hides secrets in logs"],
  ["logging.redactPatterns", "hides secrets in logs"],
  ["diagnostics", "sends telemetry to another machine"],
  ["update", "decides which code is installed"],
];

/** Appearance, texts, times and sizes: these give no access, start no program and send no data elsewhere. */
const openPaths: readonly string[] = [
  "$schema",
  "meta",
  "wizard",
  "ui.seamColor",
  "ui.assistant.name",
  ...[
    "model",
    "imageModel",
    "contextTokens",
    "userTimezone",
    "timeFormat",
    "envelopeTimezone",
    "envelopeTimestamp",
    "envelopeElapsed",
    "bootstrapMaxChars",
    "thinkingDefault",
    "verboseDefault",
    "timeoutSeconds",
    "mediaMaxMb",
    "maxConcurrent",
    "blockStreamingDefault",
    "blockStreamingBreak",
    "blockStreamingChunk",
    "blockStreamingCoalesce",
    "humanDelay",
    "typingMode",
    "typingIntervalSeconds",
    "subagents.model",
    "subagents.thinking",
    "subagents.maxConcurrent",
    "subagents.archiveAfterMinutes",
    "compaction",
    "contextPruning",
  ].map((key) => `agents.defaults.${key}`),
  ...["name", "model", "humanDelay", "groupChat", "identity.name", "identity.theme", "identity.emoji"].map(
    (key) => `agents.list.*.${key}`,
  ),
  ...["agents.defaults", "agents.list.*"].flatMap((owner) => [
    ...["every", "model", "ackMaxChars", "includeReasoning", "activeHours"].map((key) => `${owner}.heartbeat.${key}`),
    ...["chunking", "query", "cache", "sync"].map((key) => `${owner}.memorySearch.${key}`),
  ]),
  ...[
    "reset",
    "resetByType",
    "resetByChannel",
    "idleMinutes",
    "heartbeatIdleMinutes",
    "resetTriggers",
    "typingMode",
    "typingIntervalSeconds",
    "agentToAgent.maxPingPongTurns",
  ].map((key) => `session.${key}`),
  ...[
    "responsePrefix",
    "messagePrefix",
    "ackReaction",
    "ackReactionScope",
    "removeAckAfterReply",
    "queue",
    "inbound",
    "groupChat",
    "tts.auto",
    "tts.mode",
    "tts.maxTextLength",
    "tts.timeoutMs",
  ].map((key) => `messages.${key}`),
  ...["voiceId", "voiceAliases", "modelId", "outputFormat", "interruptOnSpeech"].map((key) => `talk.${key}`),
  "memory.citations",
  "cron.maxConcurrentRuns",
  "auth.cooldowns",
  "web.heartbeatSeconds",
  "web.reconnect",
  "logging.level",
  "logging.consoleLevel",
  "logging.consoleStyle",
];

function begins(pattern: string, path: ConfigPath): boolean {
  const words = pattern.split(".");
  return words.length <= path.length && words.every((word, at) => word === "*" || word === String(path[at]));
}

/** Visible only in the text: included files, and values from the environment. */
function writtenReason(path: ConfigPath, to: unknown): string | undefined {
  const text = JSON.stringify(to ?? null);
  // Also where it replaces a plain value and is then below the path.
  if (path.includes("$include") || text.includes('"$include"')) return "includes another file";
  return text.includes("${") ? "takes a value from the environment" : undefined;
}

function toChange(path: ConfigPath, from: unknown, to: unknown, reason: string): ProtectedChange {
  const change = from === undefined ? "set" : to === undefined ? "removed" : "changed";
  return { path: formatPath(path) || "(everything)", change, reason };
}

interface Leaf {
  readonly path: ConfigPath;
  readonly from: unknown;
  readonly to: unknown;
}

/**
 * Compares down to single values on both sides, also below a new or removed key; an empty container counts as a value.
 */
function changedLeaves(from: unknown, to: unknown, path: readonly Segment[]): Leaf[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length)
    return from.flatMap((item, at) => changedLeaves(item, to[at], [...path, at]));
  if (!isTree(from) || !isTree(to) || (from === undefined && to === undefined)) return [{ path, from, to }];
  const keys = new Set([...Object.keys(from ?? {}), ...Object.keys(to ?? {})]);
  if (keys.size === 0) return [{ path, from, to }];
  return [...keys].flatMap((key) => changedLeaves(own(from, key), own(to, key), [...path, key]));
}

/** Own properties only: a key may be named `toString`. */
function own(tree: Record<string, unknown> | undefined, key: string): unknown {
  return tree !== undefined && Object.hasOwn(tree, key) ? tree[key] : undefined;
}

function isTree(value: unknown): value is Record<string, unknown> | undefined {
  return value === undefined || isRecord(value);
}
