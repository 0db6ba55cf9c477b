// Every command that a message, a hint or the page names exists.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { entries, groups } from "./commands/index.ts";
import { findCommand } from "./find.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
/** At the start of a text or after a colon it is a command; in the middle of a sentence it may be the product name. */
const named = /(?:["'`]|: |&& )openclaw ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)/g;

test("every command named in a message exists", () => {
  const files = globSync(["src/**/*.ts", "ui/src/**/*.ts"], { cwd: root }).filter(
    // A list of words there happens to start with the name.
    (file) => !/\.(?:test|cases)\.ts$|argument-rules.never\.ts$/.test(file),
  );
  const lines = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(named)].map(([, words = ""]) => ({ file, words })),
  );
  assert.ok(lines.length > 200, `only ${lines.length} were found`);
  assert.deepEqual(
    lines.filter(({ words }) => !exists(words.split(" "))).map(({ file, words }) => `${file}: openclaw ${words}`),
    [],
  );
});

function exists(words: readonly string[]): boolean {
  try {
    findCommand(words, { entries, groups });
    return true;
  } catch {
    return false;
  }
}
