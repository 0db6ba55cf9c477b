// sessions_history: the messages of one session, bounded, tool results only when asked.
import { ToolError } from "../../core/error.ts";
import type { Message } from "../../core/message.ts";
import { Type } from "../../core/schema.ts";
import type { Mask } from "../../base/mask.ts";
import { defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import { readHistory } from "../../session/history.ts";
import { findSession } from "../../session/session.ts";
import { maySee, type Viewer } from "../../session/visibility.ts";
import type { SessionRecord, Store } from "../../store/store.ts";
import type { GuestDeps } from "../guest.ts";
import { defineTool, json, type ToolCall } from "../tool.ts";

const MAX_BYTES = 65_536;
const MAX_MESSAGES = 1000;

export interface HistoryToolDeps extends GuestDeps {
  readonly store: Pick<Store, "sessions" | "transcript">;
  readonly mask?: Mask;
}

export const createSessionsHistory = (deps: HistoryToolDeps) =>
  defineTool({
    name: "sessions_history",
    summary: "Read the messages of a session",
    description: "Read the last messages of a session, oldest first, without tool results unless asked.",
    params: Type.Object(
      {
        sessionKey: Type.String({ minLength: 1, description: "session key, main, or session id" }),
        limit: Type.Optional(Type.Integer({ minimum: 1, description: "last messages, default 50" })),
        includeTools: Type.Optional(Type.Boolean({ description: "tool results too" })),
      },
      { additionalProperties: false },
    ),
    prepare: ({ sessionId, ...rest }) => (sessionId === undefined ? rest : { sessionKey: sessionId, ...rest }),
    intent: () => ({ does: "look" }),
    async run(args, call) {
      const record = await visibleSession(deps, args.sessionKey, call);
      const { messages, dropped, cut, bytes } = await readHistory(deps.store.transcript, record, {
        limit: Math.min(args.limit ?? 50, MAX_MESSAGES),
        includeTools: args.includeTools ?? false,
        maxBytes: MAX_BYTES,
      });
      const shown = deps.mask === undefined ? messages : maskedTexts(messages, deps.mask);
      return json({
        sessionKey: record.key,
        messages: shown,
        truncated: dropped || cut,
        droppedMessages: dropped,
        contentTruncated: cut,
        // A reader that quotes from here must know that something was taken out.
        contentRedacted: shown !== messages,
        bytes,
      });
    },
  });

/** The same array when there was nothing to hide. */
function maskedTexts(messages: readonly Message[], mask: Mask): readonly Message[] {
  // Most hold no secret, and one look at all words together is much cheaper than one at each.
  const words = wordsIn(messages).join("\n");
  if (mask(words) === words) return messages;
  let isChanged = false;
  const hide = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hide);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, hide(part)]));
    if (typeof value !== "string") return value;
    const hidden = mask(value);
    isChanged ||= hidden !== value;
    return hidden;
  };
  const hidden = messages.map(hide) as Message[];
  return isChanged ? hidden : messages;
}

function wordsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(wordsIn) : [];
}

/** Unknown and not visible answer alike, so that nobody can probe for other people's sessions. */
export async function visibleSession(
  deps: GuestDeps & { readonly store: Pick<Store, "sessions"> },
  keyOrId: string,
  call: ToolCall,
): Promise<SessionRecord> {
  const context = { defaultAgent: defaultAgentId(call.config), mainKey: mainKeyOf(call.config) };
  const found = await findSession(deps.store.sessions, keyOrId, context, call.agent);
  const viewer = await viewerOf(deps, call);
  if (found !== undefined && maySee(viewer, found, call.config)) return found;
  throw new ToolError("session.unknown", `there is no session "${keyOrId}" that ${call.session} may see`, {
    hint:
      viewer.guest === true
        ? 'other chats are closed where others speak; agents.defaults.sandbox.sessionToolsVisibility: "all" opens them'
        : "sessions_list shows the visible ones; tools.agentToAgent opens those of other agents",
  });
}

export async function viewerOf({ isGuest }: GuestDeps, call: ToolCall): Promise<Viewer> {
  const { agent, session, sandboxed } = call;
  return { agent, session, sandboxed, guest: (await isGuest?.(call)) === true };
}
