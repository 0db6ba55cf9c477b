// Shows in the terminal who wrote a message.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Io } from "./io.ts";
import { plain } from "./paint.ts";
import { printMessage } from "./print-message.ts";

test("distinguishes messages of a person, notes of the gateway and replies without colors", () => {
  const lines: string[] = [];
  const io = { print: (line: string) => lines.push(line), paint: plain } as unknown as Io;
  const say = (text: string) => [{ type: "text", text }];
  printMessage(io, { role: "user", content: say("count\nthem") });
  printMessage(io, { role: "user", content: say("[Subagent] done\nResult: 42"), source: "sessions_spawn" });
  printMessage(io, { role: "assistant", content: say("It is 42.") });
  printMessage(io, { role: "assistant", content: [] });
  assert.deepEqual(lines, ["> count\nthem", "· [Subagent] done\n· Result: 42", "It is 42."]);
});
