// Buffers the entries of one run in order until they are stored.
import type { Message } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { TranscriptEntry } from "../store/store.ts";

export interface RunTranscript {
  readonly add: (message: Message) => void;
  /** Stores everything added so far in one step. A failed write stays for the next attempt. */
  readonly save: () => Promise<void>;
  /** The entries that are not stored yet; the end of the run stores them in its own step. */
  readonly rest: () => Promise<readonly TranscriptEntry[]>;
}

/** `store` writes the entries in one step. */
export function createRunTranscript(store: (lines: readonly TranscriptEntry[]) => Promise<unknown>): RunTranscript {
  let lines: readonly TranscriptEntry[] = [];
  let saving: Promise<void> = Promise.resolve();
  const saveNow = async (): Promise<void> => {
    const batch = lines;
    if (batch.length === 0) return;
    await store(batch);
    lines = lines.slice(batch.length);
  };
  /** The caller of that save gets the failure; its entries stay buffered. */
  const before = (): Promise<void> => saving.catch(() => undefined);
  return {
    add(message) {
      lines = [...lines, { id: newId(), type: "message", at: message.timestamp, body: message }];
    },
    save() {
      saving = before().then(saveNow);
      return saving;
    },
    async rest() {
      await before();
      return lines;
    },
  };
}
