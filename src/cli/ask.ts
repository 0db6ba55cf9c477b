// Questions to a person at the terminal: a line, a secret that is not shown, yes or no, one of several choices.
import { createInterface } from "node:readline";
import { Writable } from "node:stream";

import { UsageError } from "./command.ts";
import type { Io } from "./io.ts";
import { safe } from "./print.ts";

/** Throws UsageError without a terminal; `flag` is what a script uses instead. */
export async function confirm(io: Io, question: string, flag: string): Promise<boolean> {
  requirePerson(io, question, flag);
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}

export async function askLine(io: Io, question: string, flag: string): Promise<string> {
  requirePerson(io, question, flag);
  return (await ask(`${question} `)).trim();
}

/** Does not echo the input. Removes line breaks inside a pasted key. */
export async function askSecret(io: Io, question: string, flag: string): Promise<string> {
  requirePerson(io, question, flag);
  return (await ask(`${question} `, { hidden: true })).replaceAll(/\s+/g, "");
}

/** By number or by name; asks again until the answer is valid. */
export async function askChoice(io: Io, question: string, choices: readonly string[], flag: string): Promise<string> {
  requirePerson(io, question, flag);
  io.print([question, ...choices.map((choice, at) => `  ${at + 1}  ${safe(choice)}`)].join("\n"));
  for (;;) {
    const answer = (await ask(`1-${choices.length}: `)).trim();
    const chosen = choices[Number(answer) - 1] ?? choices.find((choice) => choice === answer);
    if (chosen !== undefined) return chosen;
  }
}

function requirePerson(io: Io, question: string, flag: string): void {
  if (!io.interactive) throw new UsageError(`cannot ask "${question}" without a terminal; use ${flag}`);
}

function ask(question: string, { hidden = false } = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const output = hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stdout;
  if (hidden) process.stdout.write(question);
  const editor = createInterface({ input: process.stdin, output, terminal: true });
  let answered = false;
  editor.question(hidden ? "" : question, (answer) => {
    answered = true;
    editor.close();
    if (hidden) process.stdout.write("\n");
    resolve(answer);
  });
  editor.on("SIGINT", () => editor.close());
  editor.on("close", () => {
    if (!answered) reject(new UsageError("no answer; nothing was changed"));
  });
  return promise;
}
