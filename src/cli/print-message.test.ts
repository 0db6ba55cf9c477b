// Who said a message, in the terminal.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Io } from "./io.ts";
import { plain } from "./paint.ts";
import { printSaid } from "./print-message.ts";

test("a person's words, the gateway's and a reply are told apart without colours", () => {
  const lines: string[] = [];
  const io = { print: (line: string) => lines.push(line), paint: plain } as unknown as Io;
  const say = (text: string) => [{ type: "text", text }];
  printSaid(io, { role: "user", content: say("count\nthem") });
  printSaid(io, { role: "user", content: say("[Sub-agent] done\nResult: 42"), source: "sessions_spawn" });
  printSaid(io, { role: "assistant", content: say("It is 42.") });
  printSaid(io, { role: "assistant", content: [] });
  assert.deepEqual(lines, ["> count\nthem", "· [Sub-agent] done\n· Result: 42", "It is 42."]);
});
