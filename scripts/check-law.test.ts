// The import rules: a deliberate violation of each kind is found.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkLaw, findCycles, parseLaw } from "./check-law.ts";

const law = parseLaw("core base tool app\nleaf tool/fs\npure core\nonly ws src/base\n");
const faults: [name: string, file: string, code: string][] = [
  ["an import to the right", "src/base/a.ts", 'import { x } from "../tool/x.ts";'],
  ["a type import to the right", "src/core/a.ts", 'import type { X } from "../base/x.ts";'],
  ["a late import to the right", "src/base/a.ts", 'const x = await import("../tool/x.ts");'],
  ["a leaf imported past builtin", "src/tool/call.ts", 'import { read } from "./fs/read.ts";'],
  ["builtin imported outside app", "src/tool/call.ts", 'import { all } from "./builtin.ts";'],
  ["node: in a pure folder", "src/core/a.ts", 'import { join } from "node:path";'],
  ["a package out of its place", "src/tool/a.ts", 'import { WebSocket } from "ws";'],
  ["a folder nobody ordered", "src/misc/a.ts", 'import { x } from "../core/x.ts";'],
  ["the page reaching into the house", "ui/src/a.ts", 'import { x } from "../../src/tool/x.ts";'],
];
for (const [name, file, code] of faults) {
  test(`finds ${name}`, () => assert.equal(checkLaw(new Map([[file, code]]), law).length, 1));
}

test("lets through what is in order", () => {
  const fine = new Map([
    ["src/tool/builtin.ts", 'import { read } from "./fs/read.ts";\nimport { x } from "../base/x.ts";'],
    ["src/app/runtime.ts", 'import { all } from "../tool/builtin.ts";'],
    ["src/tool/fs/read.test.ts", 'import { all } from "../builtin.ts";'],
    ["ui/src/a.ts", 'import { x } from "../../src/core/x.ts";'],
  ]);
  assert.deepEqual(checkLaw(fine, law), []);
});

const cyclic = new Map([
  ["src/base/a.ts", 'import { b } from "./b.ts";'],
  ["src/base/b.ts", 'import type { C } from "./c.ts";'],
  ["src/base/c.ts", 'export { a } from "./a.ts";'],
  ["src/base/d.ts", 'import { a } from "./a.ts";'],
]);

test("finds an import cycle, type imports counted", () => {
  assert.deepEqual(findCycles(cyclic), [["src/base/a.ts", "src/base/b.ts", "src/base/c.ts"]]);
  assert.equal(checkLaw(cyclic, law).length, 1);
});

test("accepts a cycle that a late import breaks, and one that law.txt lists", () => {
  const late = new Map([...cyclic, ["src/base/c.ts", 'const a = await import("./a.ts");']]);
  assert.deepEqual(findCycles(late), []);
  const known = parseLaw("core base\ncycle src/base/a.ts src/base/b.ts src/base/c.ts\n");
  assert.deepEqual(checkLaw(cyclic, known), []);
});
