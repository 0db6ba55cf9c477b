// JSON5 documents in every style, for property tests.
import fc from "fast-check";

/** Objects at the root, because a config is one. Comments can be anywhere except between a key and its value. */
export const anyDocument: fc.Arbitrary<string> = fc
  .tuple(document(), blank(), blank())
  .map(([value, before, after]) => before + value + after);

/** The comments of a text in order; comment markers inside strings do not count. */
export function commentsOf(text: string): string[] {
  const tokens = text.match(/"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\//gu) ?? [];
  return tokens.filter((token) => token.startsWith("/")).map((token) => token.trimEnd());
}

function document(): fc.Arbitrary<string> {
  const tree = fc.letrec<{ value: string; object: string; array: string }>((bind) => ({
    value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalar(), bind("object"), bind("array")),
    object: container(
      "{",
      "}",
      fc.tuple(key(), fc.constantFrom(":", ": ", " : "), bind("value")).map((parts) => parts.join("")),
    ),
    array: container("[", "]", bind("value")),
  }));
  return tree.object;
}

function container(open: string, close: string, entry: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.tuple(blank(), entry, blank()), { maxLength: 4 }), blank(), fc.boolean())
    .map(([entries, tail, trailing]) => {
      const inside = entries.map((parts) => parts.join("")).join(",");
      return open + inside + (trailing && entries.length > 0 ? "," : "") + tail + close;
    });
}

function key(): fc.Arbitrary<string> {
  const name = fc.constantFrom("a", "b", "tools", "gateway", "$ref", "_x", "ünïcode", "\\u0061b", "nulls");
  const any = fc.string({ maxLength: 6 }).filter((word) => !["__proto__", "constructor", "prototype"].includes(word));
  return fc.oneof(
    name,
    any.map((word) => JSON.stringify(word)),
    any.map(single),
    fc.constantFrom('"-100.5"', "'it\\'s'"),
  );
}

function scalar(): fc.Arbitrary<string> {
  const odd = ["0x1F", "+1", "-0", ".5", "5.", "1e3", "-1.5E-7", "Infinity", "-Infinity", "true", "false", "null"];
  const unusual = ['"a\\\nb"', "'\\x41\\u0042\\0'", '"// no comment"', "'/* nor this */'", "'\\v\\'\"'", '"a\\\r\nb"'];
  const word = fc.string({ maxLength: 10, unit: "grapheme" });
  return fc.oneof(
    fc.constantFrom(...odd, ...unusual),
    fc.integer().map(String),
    word.map((text) => JSON.stringify(text)),
    word.map(single),
  );
}

function blank(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    "",
    " ",
    "  ",
    "\n",
    "\n  ",
    "\n\t",
    "\r\n  ",
    "\u00a0",
    "\ufeff",
    "// note\n",
    " // a, {b}\n  ",
    "/* x */",
    "/* two\n lines */",
    "//\n",
  );
  return fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
}

function single(word: string): string {
  return `'${JSON.stringify(word).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
