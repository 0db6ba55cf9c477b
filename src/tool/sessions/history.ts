// The sessions_history tool: reads the messages of a session.
import { ToolError } from "../../core/error.ts";
import { Type } from "../../core/schema.ts";
import type { Mask } from "../../base/mask.ts";
import { defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import { readHistory } from "../../session/history.ts";
import { findSession } from "../../session/session.ts";
import { maySee, type Viewer } from "../../session/visibility.ts";
import type { SessionRecord, Store } from "../../store/store.ts";
import type { TrustChecks } from "../trust.ts";
import { defineTool, json, nonBlank, type ToolCall } from "../tool.ts";

const MAX_BYTES = 65_536;
const MAX_MESSAGES = 1000;

export interface HistoryToolDeps extends TrustChecks {
  readonly store: Pick<Store, "sessions" | "transcript">;
  readonly mask?: Mask;
}

export const createSessionsHistory = (deps: HistoryToolDeps) =>
  defineTool({
    name: "sessions_history",
    summary: "Read the messages of a session",
    description: "Read the most recent messages of a session, oldest first.",
    params: Type.Object(
      {
        sessionKey: nonBlank("Key from sessions_list, or main for your main session."),
        limit: Type.Optional(Type.Integer({ minimum: 1, description: "Maximum number of messages (default 50)." })),
        includeTools: Type.Optional(
          Type.Boolean({ description: "Include tool calls and their results (default false)." }),
        ),
      },
      { additionalProperties: false },
    ),
    prepare: ({ sessionId, ...rest }) => (sessionId === undefined ? rest : { sessionKey: sessionId, ...rest }),
    intent: () => ({ does: "look" }),
    async run(args, call) {
      const record = await visibleSession(deps, args.sessionKey, call);
      const { messages, dropped, cut, redacted, bytes } = await readHistory(deps.store.transcript, record, {
        limit: Math.min(args.limit ?? 50, MAX_MESSAGES),
        includeTools: args.includeTools ?? false,
        maxBytes: MAX_BYTES,
        mask: deps.mask,
      });
      return json({
        sessionKey: record.key,
        messages,
        truncated: dropped || cut,
        droppedMessages: dropped,
        contentTruncated: cut,
        // A reader that quotes from here must know that something was removed.
        contentRedacted: redacted,
        bytes,
      });
    },
  });

/** Unknown and invisible sessions give the same error, so that callers cannot probe for them. */
export async function visibleSession(
  deps: TrustChecks & { readonly store: Pick<Store, "sessions"> },
  keyOrId: string,
  call: ToolCall,
): Promise<SessionRecord> {
  const context = { defaultAgent: defaultAgentId(call.config), mainKey: mainKeyOf(call.config) };
  const found = await findSession(deps.store.sessions, keyOrId, context, call.agent);
  const viewer = await viewerOf(deps, call);
  if (found !== undefined && maySee(viewer, found, call.config)) return found;
  throw new ToolError("session.unknown", `there is no session "${keyOrId}" that ${call.session} may see`, {
    hint:
      viewer.isConfined === true
        ? 'a chat with other people sees only itself; the owner can change that with agents.defaults.sandbox.sessionToolsVisibility: "all"'
        : "sessions_list shows the sessions you may see; the owner can make those of other agents visible with tools.agentToAgent",
  });
}

export async function viewerOf({ isConfinedToChat }: TrustChecks, call: ToolCall): Promise<Viewer> {
  const { agent, session, sandboxed } = call;
  return { agent, session, sandboxed, isConfined: (await isConfinedToChat?.(call)) === true };
}
