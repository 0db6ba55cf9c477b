// Session rows as `sessions.list` and the sessions tools return them.
import { sessionKindOf } from "../core/names.ts";
import type { SessionRow } from "../protocol/methods/sessions.ts";
import type { SessionRecord } from "../store/store.ts";
import { entryOf } from "./session.ts";

/** A row of `sessions.list`; undefined fields are left out. */
export function toWireRow(record: SessionRecord): SessionRow {
  const { displayName, channel, chatType, toolsAllow: _own, ...entry } = entryOf(record);
  const kind = sessionKindOf(record.key);
  return {
    key: record.key,
    kind: kind === "group" ? "group" : record.key === "global" ? "global" : "direct",
    ...defined({
      label: record.label,
      displayName,
      channel,
      chatType: chatType ?? (kind === "group" ? "group" : "direct"),
      spawnedBy: record.spawnedBy,
    }),
    updatedAt: record.updatedAt,
    sessionId: record.sessionId,
    ...defined(entry),
    totalTokens: entry.totalTokens ?? 0,
  };
}

/** A row of the `sessions_list` tool. */
export function toToolRow(record: SessionRecord, mainKey: string): Record<string, unknown> {
  const entry = entryOf(record);
  const kind = sessionKindOf(record.key, mainKey);
  return {
    key: record.key,
    kind,
    channel: channelOf(record, kind),
    ...defined({ label: record.label, displayName: entry.displayName }),
    updatedAt: record.updatedAt,
    sessionId: record.sessionId,
    ...defined({
      model: entry.modelOverride ?? entry.model,
      contextTokens: entry.contextTokens,
      totalTokens: entry.totalTokens,
      thinkingLevel: entry.thinkingLevel,
      verboseLevel: entry.verboseLevel,
      systemSent: entry.systemSent,
      abortedLastRun: entry.abortedLastRun,
      sendPolicy: entry.sendPolicy,
      lastChannel: entry.lastChannel,
      lastTo: entry.lastTo,
      deliveryContext: entry.deliveryContext,
    }),
  };
}

function channelOf(record: SessionRecord, kind: string): string {
  const entry = entryOf(record);
  if (kind === "cron" || kind === "hook" || kind === "node") return "internal";
  if (kind === "group") return entry.channel ?? "unknown";
  return entry.lastChannel ?? "unknown";
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
