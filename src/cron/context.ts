// Quotes the last messages of a chat below a reminder, so that its reader has the context.
import { isRecord } from "../core/record.ts";
import { textOf } from "../core/message.ts";
import { readHistory } from "../session/history.ts";
import type { SessionRecord, TranscriptTable } from "../store/store.ts";

const LINE_CHARS = 220;
const MAX_CHARS = 2000;

export async function quoteRecent(transcript: TranscriptTable, record: SessionRecord, count: number): Promise<string> {
  const query = { limit: count, includeTools: false, maxBytes: 64_000 };
  const { messages } = await readHistory(transcript, record, query);
  const lines = messages.flatMap(({ role, content }) => {
    const line = textOf(content).trim().replaceAll(/\s+/g, " ");
    if (line === "") return [];
    const short = line.length <= LINE_CHARS ? line : `${line.slice(0, LINE_CHARS).toWellFormed()}…`;
    return [`- ${role === "user" ? "User" : "Assistant"}: ${short}`];
  });
  return lines.join("\n").slice(0, MAX_CHARS).toWellFormed();
}

/** Only a reminder has a text to append to; other payloads stay unchanged. */
export function withContext(payload: unknown, quoted: string): unknown {
  if (!isRecord(payload) || typeof payload["text"] !== "string") return payload;
  return { ...payload, text: `${payload["text"]}\n\nRecent messages when this was set:\n${quoted}` };
}
