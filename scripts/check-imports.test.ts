// The import rules: a violation of each kind is found.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkImports, findCycles, parseImportRules } from "./check-imports.ts";

const rules = parseImportRules("core base tool app\nleaf tool/fs\npure core\nonly ws src/base\n");
const faults: [name: string, file: string, code: string][] = [
  ["an import to the right", "src/base/a.ts", 'import { x } from "../tool/x.ts";'],
  ["a type import to the right", "src/core/a.ts", 'import type { X } from "../base/x.ts";'],
  ["a late import to the right", "src/base/a.ts", 'const x = await import("../tool/x.ts");'],
  ["a leaf imported by a file other than builtin.ts", "src/tool/call.ts", 'import { read } from "./fs/read.ts";'],
  ["builtin imported outside app", "src/tool/call.ts", 'import { all } from "./builtin.ts";'],
  ["node: in a pure folder", "src/core/a.ts", 'import { join } from "node:path";'],
  ["a package outside its folder", "src/tool/a.ts", 'import { WebSocket } from "ws";'],
  ["a folder that is missing in the import order", "src/misc/a.ts", 'import { x } from "../core/x.ts";'],
  ["the page importing a gateway folder", "ui/src/a.ts", 'import { x } from "../../src/tool/x.ts";'],
];
for (const [name, file, code] of faults) {
  test(`finds ${name}`, () => assert.equal(checkImports(new Map([[file, code]]), rules).length, 1));
}

test("accepts imports that follow the rules", () => {
  const fine = new Map([
    ["src/tool/builtin.ts", 'import { read } from "./fs/read.ts";\nimport { x } from "../base/x.ts";'],
    ["src/app/runtime.ts", 'import { all } from "../tool/builtin.ts";'],
    ["src/tool/fs/read.test.ts", 'import { all } from "../builtin.ts";'],
    ["ui/src/a.ts", 'import { x } from "../../src/core/x.ts";'],
  ]);
  assert.deepEqual(checkImports(fine, rules), []);
});

const cyclic = new Map([
  ["src/base/a.ts", 'import { b } from "./b.ts";'],
  ["src/base/b.ts", 'import type { C } from "./c.ts";'],
  ["src/base/c.ts", 'export { a } from "./a.ts";'],
  ["src/base/d.ts", 'import { a } from "./a.ts";'],
]);

test("finds an import cycle, type imports counted", () => {
  assert.deepEqual(findCycles(cyclic), [["src/base/a.ts", "src/base/b.ts", "src/base/c.ts"]]);
  assert.equal(checkImports(cyclic, rules).length, 1);
});

test("accepts a cycle that a late import breaks", () => {
  const late = new Map([...cyclic, ["src/base/c.ts", 'const a = await import("./a.ts");']]);
  assert.deepEqual(findCycles(late), []);
});
