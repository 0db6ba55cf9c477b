// Host paths in text for a sandboxed session: its own folders get their inside names, hidden ones are removed.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { insideNames } from "./inside-names.ts";

const home = "/home/ada";
const state = "/home/ada/.openclaw";
const place = {
  workspace: `${state}/sandboxes/one`,
  inside: "/workspace",
  agentWorkspace: `${state}/workspace`,
  writable: false,
};
const rename = insideNames(place, [state, home]);

for (const [text, shown] of [
  [`${place.workspace}/a.txt: no such file`, "/workspace/a.txt: no such file"],
  [`is outside ${place.workspace}.`, "is outside /workspace."],
  [`read ${place.agentWorkspace}/MEMORY.md`, "read /agent/MEMORY.md"],
  [`${state}/openclaw.json`, "(outside the sandbox)"],
  [`in ${state}.`, "in (outside the sandbox)."],
  [`"${home}/.ssh/id", x`, '"(outside the sandbox)", x'],
  [`${place.agentWorkspace}-ops/x`, "(outside the sandbox)"],
  [`${home}`, "(outside the sandbox)"],
  ["/home/adam/x", "/home/adam/x"],
  ["/usr/bin/env", "/usr/bin/env"],
] as const)
  test(`${JSON.stringify(text)} reads ${JSON.stringify(shown)}`, () => assert.equal(rename(text), shown));

test("rewrites the home folder between all common separators", () => {
  const separator = fc.constantFrom(" ", "'", '"', "(", "=", ":", "\n", "file://", "");
  const end = fc.constantFrom("", ".", ",", ")", " ", "\n", ":", "/", "/x", "/../..", "/.ssh/", "/a b");
  fc.assert(
    fc.property(
      separator,
      fc.constantFrom(home, state, place.workspace, place.agentWorkspace),
      end,
      (before, path, after) => {
        assert.equal(rename(`said ${before}${path}${after}`).includes(home), false);
      },
    ),
  );
});
