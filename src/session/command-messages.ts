// Chat commands and their answers in a transcript: people see them, models do not read them.
import type { RunFailure } from "../core/event.ts";
import type { AssistantMessage, Message, UserMessage } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { TranscriptEntry } from "../store/store.ts";

const COMMAND = "command";

interface CommandBody {
  readonly customType: typeof COMMAND;
  /** Absent in entries of earlier releases. */
  readonly runId?: string;
  readonly text: string;
  readonly answer: string;
  readonly isFailed?: boolean;
}

export function commandEntry(
  { runId, text }: { readonly runId: string; readonly text: string },
  { text: answer, failure }: { readonly text: string; readonly failure?: RunFailure | undefined },
  at: number,
): TranscriptEntry {
  const body: CommandBody = {
    customType: COMMAND,
    runId,
    text,
    answer,
    ...(failure === undefined ? {} : { isFailed: true }),
  };
  return { id: newId(), type: "custom", at, body };
}

/** The command and its answer; empty for entries of other kinds. */
export function commandMessagesOf({ type, at, body }: TranscriptEntry): readonly Message[] {
  const note = body as Partial<CommandBody> | null;
  if (type !== "custom" || note?.customType !== COMMAND) return [];
  const { runId, text = "", answer = "", isFailed = false } = note;
  const ran = runId === undefined ? {} : { runId };
  const command: UserMessage = { role: "user", content: [{ type: "text", text }], timestamp: at, ...ran };
  const reply: AssistantMessage = isFailed
    ? { role: "assistant", content: [], timestamp: at, stopReason: "error", errorMessage: answer, ...ran }
    : { role: "assistant", content: [{ type: "text", text: answer }], timestamp: at, stopReason: "stop", ...ran };
  return [command, reply];
}
