// The lines of one run on their way into the transcript: in order, and kept here until they are stored.
import type { Message } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { TranscriptEntry } from "../store/store.ts";

export interface RunTranscript {
  readonly add: (message: Message) => void;
  /** Stores all that was added so far as one step. What cannot be stored stays for the next attempt. */
  readonly save: () => Promise<void>;
  /** What is not stored yet, once nothing is being stored; the end of the run stores it in its own step. */
  readonly rest: () => Promise<readonly TranscriptEntry[]>;
}

/** `store` writes the lines in one step. */
export function createRunTranscript(store: (lines: readonly TranscriptEntry[]) => Promise<unknown>): RunTranscript {
  let lines: readonly TranscriptEntry[] = [];
  let saving: Promise<void> = Promise.resolve();
  const saveNow = async (): Promise<void> => {
    const batch = lines;
    if (batch.length === 0) return;
    await store(batch);
    lines = lines.slice(batch.length);
  };
  /** A failure is for whoever asked for that save; its lines are still here. */
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
