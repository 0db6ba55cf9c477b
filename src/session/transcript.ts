// Appends one message to a transcript, durably.
import type { Message } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { SessionRecord, Store } from "../store/store.ts";

export interface Written {
  readonly messageId: string;
  readonly seq: number;
}

/** Also moves the session to the top of the lists. */
export async function appendMessage(
  store: Pick<Store, "sessions" | "transcript" | "together">,
  record: SessionRecord,
  message: Message,
): Promise<Written> {
  const messageId = newId();
  const [seq] = await store.together(() =>
    Promise.all([
      store.transcript.append(record.sessionId, [
        { id: messageId, type: "message", at: message.timestamp, body: message },
      ]),
      store.sessions.update(record.key, (current) =>
        current === undefined ? undefined : { ...current, updatedAt: message.timestamp },
      ),
    ]),
  );
  return { messageId, seq };
}
