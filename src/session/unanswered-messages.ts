// Messages that were accepted and never answered: people see them with the reason, models do not read them.
import type { RunFailure } from "../core/event.ts";
import type { Message, UserMessage } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { TranscriptEntry } from "../store/store.ts";
import { sourceOnRecord, type TurnRequest } from "./turns.ts";

const UNANSWERED = "unanswered";

/** A user message of the history with the reason why it has no answer. */
export type UnansweredMessage = UserMessage & { readonly unanswered: Pick<RunFailure, "code" | "message"> };

interface UnansweredBody {
  readonly customType: typeof UNANSWERED;
  readonly message: UnansweredMessage;
}

/** Undefined for heartbeats and messages of the agent itself. */
export function unansweredEntry(
  turn: Pick<TurnRequest, "text" | "images" | "media" | "source" | "heartbeat">,
  { code, message: reason }: RunFailure,
  at: number,
): TranscriptEntry | undefined {
  if (turn.heartbeat !== undefined || turn.source === "say") return undefined;
  const { images = [], media = [] } = turn;
  const text = [turn.text, ...media.map(({ kind }) => `[${kind}]`)].filter((line) => line !== "").join("\n");
  const message: UnansweredMessage = {
    role: "user",
    content: [...(text === "" && images.length > 0 ? [] : [{ type: "text" as const, text }]), ...images],
    timestamp: at,
    ...sourceOnRecord(turn),
    unanswered: { code, message: reason },
  };
  const body: UnansweredBody = { customType: UNANSWERED, message };
  return { id: newId(), type: "custom", at, body };
}

export function unansweredOf({ type, body }: Pick<TranscriptEntry, "type" | "body">): Message | undefined {
  if (type !== "custom") return undefined;
  const mark = body as Partial<UnansweredBody> | null;
  return mark?.customType === UNANSWERED ? mark.message : undefined;
}
