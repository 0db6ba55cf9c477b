// sessions_list: the sessions the caller may see, newest first, on wish with their last messages.
import { sessionKindOf } from "../../core/names.ts";
import { Type } from "../../core/schema.ts";
import type { Clock } from "../../base/clock.ts";
import { mainKeyOf } from "../../config/agents.ts";
import { readHistory } from "../../session/history.ts";
import { toToolRow } from "../../session/rows.ts";
import { maySee } from "../../session/visibility.ts";
import type { SessionRecord, Store } from "../../store/store.ts";
import { defineTool, json, type ToolCall } from "../tool.ts";

const kinds = ["main", "group", "cron", "hook", "node", "other"] as const;
const MAX_ROWS = 200;
const MAX_MESSAGES = 20;

export const createSessionsList = (deps: {
  readonly store: Pick<Store, "sessions" | "transcript">;
  readonly clock: Clock;
}) =>
  defineTool({
    name: "sessions_list",
    summary: "List sessions you may see, with filters and last messages",
    description:
      "List sessions, newest first. messageLimit above 0 adds the last messages of each, tool results left out.",
    params: Type.Object(
      {
        kinds: Type.Optional(
          Type.Array(Type.Union(kinds.map((kind) => Type.Literal(kind))), { description: "only these kinds" }),
        ),
        limit: Type.Optional(Type.Integer({ minimum: 1, description: "at most this many rows" })),
        activeMinutes: Type.Optional(Type.Integer({ minimum: 1, description: "changed within this many minutes" })),
        messageLimit: Type.Optional(Type.Integer({ minimum: 0, description: "last messages per row; 0 for none" })),
      },
      { additionalProperties: false },
    ),
    intent: () => ({ does: "look" }),
    async run(args, call) {
      const limit = Math.min(args.limit ?? MAX_ROWS, MAX_ROWS);
      const since =
        args.activeMinutes === undefined ? {} : { activeSince: deps.clock.now() - args.activeMinutes * 60_000 };
      const wanted = (record: SessionRecord): boolean =>
        maySee(call, record, call.config) &&
        (args.kinds === undefined ||
          args.kinds.some((kind) => kind === sessionKindOf(record.key, mainKeyOf(call.config))));
      // Filtering happens after the query, so more rows are asked for than wanted; both ends are bounded.
      const records = (await deps.store.sessions.list({ ...since, limit: MAX_ROWS * 10 }))
        .filter(wanted)
        .slice(0, limit);
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
