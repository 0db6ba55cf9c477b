// Templates read only what the sender wrote, for any path and payload.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { fillTemplate, valueAt } from "./template.ts";

const cases: readonly (readonly [template: string, payload: unknown, filled: string])[] = [
  ["{{a}}", { a: "x" }, "x"],
  ["{{ a.b[0].c }}!", { a: { b: [{ c: 7 }] } }, "7!"],
  ["{{a[1][0]}}", { a: [[], ["deep"]] }, "deep"],
  ["{{list.0}}", { list: ["first"] }, "first"],
  ["{{a}}", { a: { b: [1, true, null] } }, '{"b":[1,true,null]}'],
  ["{{a}}{{b}}", { a: null }, ""],
  ["{{flag}}", { flag: false }, "false"],
  ["{{a}}", { a: "{{b}}", b: "secret" }, "{{b}}"],
  ["{{list.length}}", { list: [1, 2] }, ""],
  ["{{a.length}}", { a: "text" }, ""],
  ["{{a..b}} {{.a}} {{[0]}} {{a[x]}} {{a[-1]}} {{}}", { a: { b: 1 } }, "     "],
  ["{{ünïcode.ключ}}", { ünïcode: { ключ: "yes" } }, "yes"],
  ["{single} {{a}", { a: 1 }, "{single} {{a}"],
];

test("fills in paths, lists and missing values", () => {
  for (const [template, payload, filled] of cases) assert.equal(fillTemplate(template, payload), filled, template);
});

test("GWY-040 reads no inherited property, also when the payload has one of that name", () => {
  const own = JSON.parse('{"__proto__":{"x":"polluted"},"constructor":{"name":"mine"},"prototype":1}') as unknown;
  const paths = ["__proto__.x", "__proto__", "constructor", "constructor.name", "constructor.prototype", "prototype"];
  for (const path of [...paths, "toString", "hasOwnProperty", "valueOf", "__defineGetter__"])
    for (const payload of [{}, own, { a: [] }]) assert.equal(fillTemplate(`<{{${path}}}>`, payload), "<>", path);
  assert.equal(fillTemplate("{{a.constructor.name}}{{a.map}}{{a.__proto__}}", { a: [1] }), "");
});

test("limits the size of the result", () => {
  const long = fillTemplate("{{a}}".repeat(500), { a: "x".repeat(10_000) });
  assert.equal(long.length, 200_000);
});

test("reads an own value or nothing for any path on any payload, and never throws", () => {
  const step = fc.oneof(
    fc.constantFrom("a", "b", "__proto__", "constructor", "0", "length"),
    fc.string({ maxLength: 6 }),
  );
  const path = fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => steps.join("."));
  fc.assert(
    fc.property(path, fc.jsonValue({ maxDepth: 4 }), (where, payload) => {
      const found = valueAt(payload, where);
      if (found === undefined) return;
      assert.ok(JSON.stringify(payload).includes(JSON.stringify(found)));
      assert.ok(!/(?:^|\.)(?:__proto__|constructor|prototype)(?:\.|$)/.test(where));
    }),
    { numRuns: 2000 },
  );
});

test("keeps text without braces, and inserts values literally", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (around, value) => {
      const plain = around.replaceAll(/[{}]/g, "");
      assert.equal(fillTemplate(`${plain}{{v}}`, { v: value }), `${plain}${value}`.toWellFormed());
    }),
  );
});
