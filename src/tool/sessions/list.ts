// The sessions_list tool: lists the sessions the caller may see.
import { Type } from "../../core/schema.ts";
import type { Clock } from "../../base/clock.ts";
import { mainKeyOf } from "../../config/agents.ts";
import { readHistory } from "../../session/history.ts";
import { visibleSessions } from "../../session/list.ts";
import { toToolRow } from "../../session/rows.ts";
import type { SessionRecord, Store } from "../../store/store.ts";
import type { TrustChecks } from "../trust.ts";
import { defineTool, json, type ToolCall } from "../tool.ts";
import { viewerOf } from "./history.ts";

const kinds = ["main", "group", "cron", "hook", "node", "other"] as const;
const DEFAULT_ROWS = 50;
const MAX_ROWS = 200;
const MAX_MESSAGES = 20;

export interface ListToolDeps extends TrustChecks {
  readonly store: Pick<Store, "sessions" | "transcript">;
  readonly clock: Clock;
}

export const createSessionsList = (deps: ListToolDeps) =>
  defineTool({
    name: "sessions_list",
    summary: "List sessions and their recent messages",
    description: "List the sessions you may see, most recently active first.",
    params: Type.Object(
      {
        kinds: Type.Optional(
          Type.Array(Type.Enum([...kinds], { type: "string" }), {
            description: "Only sessions of these kinds (default: all).",
          }),
        ),
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: `Maximum number of sessions (default ${DEFAULT_ROWS}, at most ${MAX_ROWS}).`,
          }),
        ),
        activeMinutes: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: "Only sessions active within this many minutes (default: any time).",
          }),
        ),
        messageLimit: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: `Recent messages to include per session (default 0, at most ${MAX_MESSAGES}).`,
          }),
        ),
      },
      { additionalProperties: false },
    ),
    intent: () => ({ does: "look" }),
    async run(args, call) {
      const { kinds: wanted, activeMinutes, limit = DEFAULT_ROWS } = args;
      const filter = {
        kinds: wanted?.length === 0 ? undefined : wanted,
        activeSince: activeMinutes === undefined ? undefined : deps.clock.now() - activeMinutes * 60_000,
        limit: Math.min(limit, MAX_ROWS),
      };
      const records = await visibleSessions(deps.store.sessions, await viewerOf(deps, call), filter, call.config);
      const sessions = await Promise.all(
        records.map((record) => toRow(record, args.messageLimit ?? 0, call, deps.store)),
      );
      return json({ count: sessions.length, sessions });
    },
  });

async function toRow(
  record: SessionRecord,
  messageLimit: number,
  call: ToolCall,
  store: Pick<Store, "transcript">,
): Promise<unknown> {
  const row = toToolRow(record, mainKeyOf(call.config));
  if (messageLimit === 0) return row;
  const limit = Math.min(messageLimit, MAX_MESSAGES);
  const { messages } = await readHistory(store.transcript, record, { limit, includeTools: false, maxBytes: 16_000 });
  return { ...row, messages };
}
