// Answers the queries that a program sends to its terminal and removes them from its output, also when they arrive in
// pieces.

const ESC = 0x1b;
/** A fixed cursor position is enough; a program without an answer would wait forever. */
const answers: Readonly<Record<string, string>> = {
  "\u001b[6n": "\u001b[1;1R",
  "\u001b[?6n": "\u001b[1;1R",
  "\u001b[5n": "\u001b[0n",
  "\u001b[c": "\u001b[?62;22c",
  "\u001b[0c": "\u001b[?62;22c",
};
const questions = Object.keys(answers);

export interface QueryFilter {
  /** Returns the bytes without queries; the beginning of a possible query is held back. */
  take(bytes: Buffer): Buffer;
  /** Returns what was held back at the end of the output. */
  rest(): Buffer;
}

export function createQueryFilter(answer: (text: string) => void): QueryFilter {
  let held: Buffer = Buffer.alloc(0);
  return {
    take(bytes) {
      if (held.length === 0 && !bytes.includes(ESC)) return bytes;
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const kept: Buffer[] = [];
      let from = 0;
      held = Buffer.alloc(0);
      for (let at = all.indexOf(ESC); at !== -1; at = all.indexOf(ESC, at + 1)) {
        const next = all.toString("latin1", at, at + 5);
        const question = questions.find((one) => next.startsWith(one));
        if (question !== undefined) {
          kept.push(all.subarray(from, at));
          from = at + question.length;
          answer(answers[question] ?? "");
        } else if (at + next.length === all.length && questions.some((one) => one.startsWith(next))) {
          kept.push(all.subarray(from, at));
          held = Buffer.from(all.subarray(at));
          return Buffer.concat(kept);
        }
      }
      return from === 0 ? all : Buffer.concat([...kept, all.subarray(from)]);
    },
    rest() {
      const rest = held;
      held = Buffer.alloc(0);
      return rest;
    },
  };
}
