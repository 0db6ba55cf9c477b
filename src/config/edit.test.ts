// Edits checked against json5: the value is as requested, and all other text is unchanged.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import JSON5 from "json5";

import { editText, type Edit } from "./edit.ts";
import { anyDocument, commentsOf } from "./json5.cases.ts";
import { nodeAt, parseText, placeOf, valueOf, type TextNode } from "./json5-text.ts";
import { parsePath, setAt, unsetAt, type Segment } from "./path.ts";

const runs = Number(process.env["OPENCLAW_EDIT_RUNS"] ?? 300);

const written = `// mine
{
  // the port
  gateway: { port: 18789, auth: { token: 'x' } }, // keep
  tools: {
    allow: [
      "read", // looks
      "write",
    ],
    exec: {},
  },
  /* odd */ "un known": 0x10,
}
`;

const examples: readonly (readonly [what: string, edits: readonly Edit[], find: string, put: string])[] = [
  ["only the value", [{ path: "gateway.port", value: 19000 }], "18789", "19000"],
  ["nothing when the value is equal", [{ path: '["un known"]', value: 16 }], "0x10", "0x10"],
  ["a new key on one line", [{ path: "gateway.bind", value: "lan" }], "'x' } }", "'x' }, bind: \"lan\" }"],
  [
    "a new item after the last one, with its comma",
    [{ path: "tools.allow[2]", value: "edit" }],
    '"write",\n',
    '"write",\n      "edit",\n',
  ],
  [
    "a new key in an empty object",
    [{ path: "tools.exec.host", value: "node" }],
    "exec: {},",
    'exec: {\n      host: "node",\n    },',
  ],
  [
    "missing parents",
    [{ path: "cron.jobs.limit", value: 2 }],
    "0x10,\n",
    "0x10,\n  cron: {\n    jobs: {\n      limit: 2,\n    },\n  },\n",
  ],
  [
    "a removed line, keeping the comments of its neighbors",
    [{ path: "tools.allow[1]", remove: true }],
    '      "write",\n',
    "",
  ],
  ["a removed entry, keeping its comment", [{ path: "tools.allow[0]", remove: true }], '"read", // looks', "// looks"],
  ["a removed key on one line", [{ path: "gateway.port", remove: true }], "port: 18789, auth", "auth"],
  ["a removed last key on one line", [{ path: "gateway.auth", remove: true }], ", auth: { token: 'x' } }", " }"],
  [
    "only the entries of an object that differ",
    [{ path: "gateway", value: { port: 1, auth: { token: "x" } } }],
    "18789",
    "1",
  ],
  [
    "only the items of a list that differ",
    [{ path: "tools.allow", value: ["exec", "read", "write"] }],
    "allow: [\n",
    'allow: [\n      "exec",\n',
  ],
  ["nothing for a missing key", [{ path: "nothing.here", remove: true }], "", ""],
];

for (const [what, edits, find, put] of examples) {
  test(`an edit changes ${what}`, () => {
    assert.equal(editText(written, edits), written.replace(find, put));
  });
}

test("a text without a value gets one, after its comments", () => {
  assert.equal(editText("", [{ path: "a.b", value: 1 }]), '{\n  "a": {\n    "b": 1\n  }\n}\n');
  assert.equal(editText("// hello", [{ path: "a", value: 1 }]), '// hello\n{\n  "a": 1\n}\n');
});

test("strict JSON stays strict JSON", () => {
  const strict = '{\n  "a": 1,\n  "b": ["x"]\n}\n';
  const edited = editText(strict, [
    { path: "c.d", value: ["it's", { e: null }] },
    { path: "b", remove: true },
  ]);
  assert.deepEqual(JSON.parse(edited), { a: 1, c: { d: ["it's", { e: null }] } });
});

test("uses the line ends of the text", () => {
  assert.equal(editText('{\r\n\t"a": 1\r\n}\r\n', [{ path: "b", value: {} }]), '{\r\n\t"a": 1,\r\n\t"b": {}\r\n}\r\n');
});

test("removes a duplicate key completely, and sets it where it counts", () => {
  assert.equal(editText("{ a: 1, b: 2, a: 3 }", [{ path: "a", remove: true }]), "{ b: 2 }");
  assert.equal(editText("{ a: 1, b: 2, a: 3 }", [{ path: "a", value: 4 }]), "{ a: 1, b: 2, a: 4 }");
});

test("rejects impossible edits", () => {
  const refused: Edit[] = [
    { path: "gateway.port.x", value: 1 },
    { path: "tools.allow[9]", value: 1 },
    { path: "tools.allow.x", value: 1 },
    { path: ["__proto__", "x"], value: 1 },
    { path: "a", value: { constructor: 1 } },
    { path: "a", value: () => 1 },
    { path: [], remove: true },
  ];
  for (const edit of refused)
    assert.throws(() => editText(written, [edit]), { name: "OpenClawError" }, JSON.stringify(edit));
  assert.throws(() => editText("{ a: ", [{ path: "a", value: 1 }]), { code: "config.syntax" });
});

test("finds positions; for a missing path that of its nearest parent", () => {
  const root = parseText(written);
  const places = ["gateway", "gateway.auth.token", "tools.allow[1]", '["un known"]', "tools.such"].map((path) =>
    placeOf(written, root, parsePath(path)),
  );
  assert.deepEqual(places, [
    { line: 4, column: 3, exact: true },
    { line: 4, column: 35, exact: true },
    { line: 8, column: 7, exact: true },
    { line: 12, column: 13, exact: true },
    { line: 5, column: 3, exact: false },
  ]);
});

const anyValue = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => !/__proto__|constructor|prototype/.test(JSON.stringify(value)));

test("the tree agrees with json5 on every document", () => {
  fc.assert(
    fc.property(anyDocument, (text) => {
      assert.deepEqual(readBack(text, parseText(text)), JSON5.parse(text));
    }),
    { numRuns: runs },
  );
});

test("set changes exactly the requested value", () => {
  fc.assert(
    fc.property(anyDocument, fc.nat(), fc.nat(), anyValue, (text, pick, fresh, value) => {
      const before = JSON5.parse(text);
      const paths = pathsOf(before);
      const parent = paths[pick % paths.length] ?? [];
      const path = settable(before, parent, fresh);
      const expected = setAt(before, path, value);
      const edited = editText(text, [{ path, value }]);
      assert.deepEqual(JSON5.parse(edited), expected);
      const node = nodeAt(parseText(text), path);
      if (node?.kind !== "scalar")
        return assert.equal(isSubsequence(commentsOutside(text, node), commentsOf(edited)), true);
      assert.equal(edited.startsWith(text.slice(0, node.start)), true);
      assert.equal(edited.endsWith(text.slice(node.end)), true);
    }),
    { numRuns: runs },
  );
});

test("unset removes exactly the requested value, and no other comment", () => {
  fc.assert(
    fc.property(anyDocument, fc.nat(), (text, pick) => {
      const before = JSON5.parse(text);
      const paths = pathsOf(before).slice(1);
      const path = paths[pick % Math.max(1, paths.length)];
      if (path === undefined) return;
      const edited = editText(text, [{ path, remove: true }]);
      assert.deepEqual(JSON5.parse(edited), unsetAt(before, path));
      if (isWrittenTwice(text, path)) return;
      assert.equal(isSubsequence(commentsOutside(text, nodeAt(parseText(text), path)), commentsOf(edited)), true);
    }),
    { numRuns: runs },
  );
});

test("writing a whole value gives that value, and an equal value changes nothing", () => {
  fc.assert(
    fc.property(anyDocument, anyDocument, (text, other) => {
      const value: unknown = JSON5.parse(other);
      const edited = editText(text, [{ path: [], value }]);
      assert.deepEqual(JSON5.parse(edited), value);
      assert.equal(editText(edited, [{ path: [], value }]), edited);
    }),
    { numRuns: runs },
  );
});

test("any text gives a tree, nothing, or one kind of error", () => {
  fc.assert(
    fc.property(anyDocument, fc.nat(), fc.string({ maxLength: 3 }), (text, at, junk) => {
      const offset = at % (text.length + 1);
      const broken = text.slice(0, offset) + junk + text.slice(offset + 1);
      try {
        parseText(broken);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "config.syntax");
      }
    }),
    { numRuns: runs },
  );
});

function readBack(text: string, node: TextNode | undefined): unknown {
  if (node === undefined) return undefined;
  if (node.kind === "array") return node.entries.map(({ value }) => readBack(text, value));
  if (node.kind === "object")
    return Object.fromEntries(node.entries.map(({ key, value }) => [key, readBack(text, value)]));
  return valueOf(text, node);
}

function pathsOf(value: unknown, path: Segment[] = []): Segment[][] {
  if (typeof value !== "object" || value === null) return [path];
  const entries: [Segment, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, child]) => pathsOf(child, [...path, key]))];
}

/** A path that can be set: the given one, or a new entry in its container. */
function settable(root: unknown, path: Segment[], fresh: number): Segment[] {
  const value = path.reduce<unknown>((node, key) => (node as Record<Segment, unknown>)[key], root);
  if (fresh % 3 === 0 || typeof value !== "object" || value === null) return path;
  if (Array.isArray(value)) return [...path, value.length];
  return fresh % 3 === 1 ? [...path, `new-${fresh}`] : [...path, "fresh", "deep", 0];
}

function commentsOutside(text: string, node: TextNode | undefined): string[] {
  if (node === undefined) return commentsOf(text);
  // Comments between a removed key and its value are removed, too; the generator writes none there.
  return [...commentsOf(text.slice(0, node.start)), ...commentsOf(text.slice(node.end))];
}

function isWrittenTwice(text: string, path: readonly Segment[]): boolean {
  const holder = nodeAt(parseText(text), path.slice(0, -1));
  return holder?.kind === "object" && holder.entries.filter(({ key }) => key === path.at(-1)).length > 1;
}

function isSubsequence(wanted: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const word of all) if (word === wanted[at]) at += 1;
  return at === wanted.length;
}
