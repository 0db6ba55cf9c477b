// The forms of /config set and unset.
import assert from "node:assert/strict";
import { test } from "node:test";

import { settingWords } from "./owner.ts";

for (const [written, read] of [
  ["", ["", "", ""]],
  ["show", ["show", "", ""]],
  ["show gateway.port", ["show", "gateway.port", ""]],
  ["SET a.b 1", ["set", "a.b", "1"]],
  ["set a.b=1", ["set", "a.b", "1"]],
  ["set a.b = 1", ["set", "a.b", "1"]],
  ['set messages.responsePrefix="[openclaw] = x"', ["set", "messages.responsePrefix", '"[openclaw] = x"']],
  ["set a {b: 1, c: 'x y'}", ["set", "a", "{b: 1, c: 'x y'}"]],
  [
    'set channels.telegram.groups["-1 0=0"].requireMention false',
    ["set", 'channels.telegram.groups["-1 0=0"].requireMention', "false"],
  ],
  ["set agents.list[0].name  two words ", ["set", "agents.list[0].name", "two words"]],
  ["unset a.b", ["unset", "a.b", ""]],
  ["unset a.b c", ["unset", "a.b", "c"]],
] as const)
  test(`/config ${written}`, () => assert.deepEqual(settingWords(written), read));
