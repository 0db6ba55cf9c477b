import assert from "node:assert/strict";
import { test } from "node:test";

import { newSessionKey, titleOf, toPreview } from "./session-name.ts";

test("a session is named by its label, otherwise by its key", () => {
  const key = "agent:main:main";
  assert.deepEqual(
    [
      titleOf({ key, label: "House", displayName: "x", derivedTitle: "y" }),
      titleOf({ key, displayName: "x", derivedTitle: "y" }),
      titleOf({ key, derivedTitle: "y" }),
      titleOf({ key, derivedTitle: key }),
      titleOf({ key: "agent:ops:main" }),
      titleOf({ key: "agent:ops:telegram:group:5" }),
      titleOf({ key: newSessionKey("ops", "0123ABCD-rest") }),
      titleOf({ key: "global" }),
    ],
    ["House", "x", "y", "Main", "Main of ops", "telegram:group:5", "Session 0123abcd", "global"],
  );
});

test("a preview is one line of plain text", () => {
  assert.equal(toPreview("# Plan\n\n**Now** `ls`\n```sh\nls -la\n```\n> quoted"), "Plan Now ls ls -la quoted");
});
