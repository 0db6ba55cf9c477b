import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { isOwnPicture, parseMarkdown, toSafeLink, type BlockNode, type Inline } from "./markdown.ts";

const text = (words: string): Inline => ({ kind: "text", text: words });
const paragraph = (...inner: Inline[]): BlockNode => ({ kind: "paragraph", inner });

test("parses common Markdown", () => {
  assert.deepEqual(parseMarkdown("# Plan *now*\n\none\ntwo `x<y` **b** ~~d~~\n\n---\n\n> said"), [
    { kind: "heading", depth: 1, inner: [text("Plan "), { kind: "em", inner: [text("now")] }] },
    paragraph(
      text("one"),
      { kind: "break" },
      text("two "),
      { kind: "code", text: "x<y" },
      text(" "),
      { kind: "strong", inner: [text("b")] },
      text(" "),
      { kind: "del", inner: [text("d")] },
    ),
    { kind: "rule" },
    { kind: "quote", blocks: [paragraph(text("said"))] },
  ]);
});

test("parses lists, checkboxes, code and tables", () => {
  assert.deepEqual(parseMarkdown("3. a\n4. b\n\n- [x] c\n\n```js title\nlet x = '<b>';\n```\n\n|a|b|\n|-|-:|\n|1|2|"), [
    { kind: "list", start: 3, items: [[paragraph(text("a"))], [paragraph(text("b"))]] },
    {
      kind: "list",
      start: undefined,
      items: [[paragraph({ kind: "tick", isDone: true }, text("c"))]],
    },
    { kind: "code", language: "js", text: "let x = '<b>';" },
    {
      kind: "table",
      aligns: [undefined, "right"],
      head: [[text("a")], [text("b")]],
      rows: [[[text("1")], [text("2")]]],
    },
  ]);
});

test("an unfinished code block is a code block while it streams", () => {
  assert.deepEqual(parseMarkdown("```py\nprint("), [{ kind: "code", language: "py", text: "print(" }]);
});

test("raw HTML is shown as text", () => {
  assert.deepEqual(parseMarkdown("<script>alert(1)</script>"), [paragraph(text("<script>alert(1)</script>"))]);
  assert.deepEqual(parseMarkdown("a <img src=x onerror=alert(1)> b"), [
    paragraph(text("a "), text("<img src=x onerror=alert(1)>"), text(" b")),
  ]);
  assert.deepEqual(parseMarkdown("&lt;b&gt; &amp;lt; &#x41; &#0;"), [paragraph(text("<b> &lt; A \uFFFD"))]);
});

test("links lead only to web and mail addresses", () => {
  assert.equal(toSafeLink("https://example.org/a b"), "https://example.org/a%20b");
  assert.equal(toSafeLink("mailto:a@example.org"), "mailto:a@example.org");
  for (const bad of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " java\nscript:alert(1)",
    "data:text/html,<script>1</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://x/1",
    "/tools/invoke",
    "#/tools",
    "//host",
  ])
    assert.equal(toSafeLink(bad), undefined, bad);
  assert.deepEqual(parseMarkdown("[x](javascript:alert(1))"), [paragraph(text("[x](javascript:alert(1))"))]);
  assert.deepEqual(parseMarkdown("[x](java&#115;cript:alert(1))"), [paragraph(text("[x](java&#115;cript:alert(1))"))]);
});

test("embedded images are shown, remote images are links, others are text", () => {
  assert.deepEqual(parseMarkdown("![dot](data:image/png;base64,AA==)"), [
    paragraph({ kind: "image", src: "data:image/png;base64,AA==", alt: "dot" }),
  ]);
  assert.deepEqual(parseMarkdown("![dot](http://x.test/a.png)"), [
    paragraph({ kind: "link", href: "http://x.test/a.png", inner: [text("picture: dot")] }),
  ]);
  for (const bad of ["data:image/svg+xml;base64,AA==", "data:text/html;base64,AA==", "/x.png", "javascript:1"])
    assert.equal(isOwnPicture(bad), false, bad);
});

test("very long and very deep texts are shown, unformatted if necessary", () => {
  const long = "*a* ".repeat(60_000);
  assert.deepEqual(parseMarkdown(long), [paragraph(text(long))]);
  assert.ok(flat(parseMarkdown(`${"> ".repeat(400)}deep`)).length > 0);
  assert.ok(flat(parseMarkdown("[".repeat(3000))).length > 0);
});

const piece = fc.constantFrom(
  ..."[]()<>*_`#!&;:/\\\n\t \"'=-|~".split(""),
  "javascript:",
  "data:text/html,",
  "&#106;avascript:",
  "http://a.test",
  "<a href=javascript:1>",
  "<img src=x onerror=1>",
  "</script>",
  "<!--",
  "![x](",
  "[y](",
  "word",
);

test("property: for any input every address is a web or mail address or an embedded image", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      for (const node of flat(parseMarkdown(pieces.join("")))) {
        if (node.kind === "link") assert.match(node.href, /^(https?|mailto):/);
        if (node.kind === "image") assert.ok(isOwnPicture(node.src));
      }
    }),
    { numRuns: 2000 },
  );
});

function flat(blocks: readonly BlockNode[]): Inline[] {
  return blocks.flatMap((block): Inline[] => {
    if (block.kind === "paragraph" || block.kind === "heading") return inner(block.inner);
    if (block.kind === "quote") return flat(block.blocks);
    if (block.kind === "list") return block.items.flatMap(flat);
    if (block.kind === "table") return [...block.head, ...block.rows.flat()].flatMap(inner);
    return [];
  });
}

function inner(nodes: readonly Inline[]): Inline[] {
  return nodes.flatMap((node) => ("inner" in node ? [node, ...inner(node.inner)] : [node]));
}
