// Rejects patterns with exponential time, and accepts those that people write.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { compilePattern } from "./patterns.ts";

const dangerous = [
  "(a+)+$",
  "(a*)*b",
  "(a|a)*$",
  "(a|ab|b)*c",
  "(?:a?b?)*x",
  "^(\\w+\\s?)*$",
  "(.*)*x",
  "([a-z]+)*=",
  "(x+x+)+y",
  "(a{0,2})*b",
  "(\\d+|\\w)*;",
  "(?=(a+)+$)x",
  "((a+)\\2?)+$",
  "/(A|a)+$/i",
  "([^\"]|[^'])*x",
  "(?<name>a+)+$",
  "^a*a*a*a*a*$",
  "^(b?(a?)+(ab|c))+$",
  "^(ab{1,2}(a?)+[ab])+$",
  "^((a?|b?)c)+$",
  "^((|)a)*$",
  `^${"a?".repeat(26)}[bc]$`,
  `(${Array.from({ length: 300 }, () => ".").join("|")})*`,
];

const sound = [
  "sk-[a-z0-9]{20,}",
  "\\b(token|secret)\\s*[:=]\\s*\\S+",
  "-----BEGIN [A-Z ]+-----[\\s\\S]*?-----END [A-Z ]+-----",
  "/Bearer [\\w.-]+/g",
  "(?:[a-z]+-)+x",
  "(\\d{1,3}\\.){3}\\d{1,3}",
  '"(?:[^"\\\\]|\\\\.)*"',
  "^@?openclaw\\b",
  "(https?:\\/\\/)?[\\w.]+@",
  "ghp_[A-Za-z0-9]{36}",
  "[\\]\\-]+",
  "a{2,5}b{,3}",
  "\\p{L}+/",
  "^(\\w{1,3}-?){1,3}$",
  "(foo|foobar|food|fool)+",
  "[a-z]{1,3}[a-z0-9]{1,3}[a-z]{1,3}",
];

test("rejects exponential patterns and suggests a fix", () => {
  for (const written of dangerous) {
    assert.throws(() => compilePattern(written), { code: "config.bad-pattern", message: /block the gateway/ }, written);
  }
});

test("compiles ordinary patterns", () => {
  for (const written of sound) assert.ok(compilePattern(written) instanceof RegExp, written);
  assert.deepEqual([compilePattern("x").flags, compilePattern("/x/g").flags], ["gi", "g"]);
});

test("rejects patterns that do not compile", () => {
  for (const written of ["(", "[", "a**", "/x/q", "x".repeat(1001)]) {
    assert.throws(() => compilePattern(written), { code: "config.bad-pattern" }, written);
  }
});

test("accepted patterns stay fast on the worst-case text", () => {
  const atom = fc.constantFrom("a", "b", "ab", "[ab]", "(a?)", ".", "(a|b)", "(ab|c)", "(a)", "\\w", "(a?|b?)", "(|a)");
  const pattern = fc
    .array(fc.tuple(atom, fc.constantFrom("", "*", "+", "?", "{1,2}")), { minLength: 1, maxLength: 3 })
    .chain((parts) =>
      fc
        .tuple(fc.constant(parts.flat().join("")), fc.constantFrom("", "+", "*", "{1,3}"))
        .map(([inner, outer]) => `^(${inner})${outer}$`),
    );
  fc.assert(
    fc.property(pattern, fc.constantFrom("a", "ab", "aab", "b", "c"), (source, unit) => {
      if (isRefused(`/${source}/`)) return;
      const [once, more] = [steps(source, unit, 24), steps(source, unit, 36)];
      assert.ok(once < MAX_STEPS, "a line of 24 characters is read in no time");
      // Up to four adjacent loops are accepted: 1.5 times the text takes 1.5^4 times as long, a little more for short
      // texts, and no exponential pattern stays below this.
      if (once * MAX_GROWTH < MAX_STEPS) assert.ok(more < once * MAX_GROWTH, `${more / once} times as long`);
    }),
    { numRuns: Number(process.env["OPENCLAW_FUZZ_RUNS"] ?? 150) },
  );
});

function isRefused(written: string): boolean {
  try {
    compilePattern(written);
    return false;
  } catch (error) {
    assert.equal((error as { code?: unknown }).code, "config.bad-pattern");
    return true;
  }
}

const MAX_STEPS = 20_000_000;
const MAX_GROWTH = 24;

/** Steps that a simple backtracking matcher takes to find that repeated `unit`, then `!`, does not match. */
function steps(source: string, unit: string, length: number): number {
  const text = `${unit.repeat(length).slice(0, length)}!`;
  let count = 0;
  type Go = (at: number, then: (at: number) => boolean) => boolean;
  const limit = (): boolean => (count += 1) > MAX_STEPS;
  const match = toMatcher(source.slice(1, -1));
  match(0, (at) => at === text.length);
  return count;

  function toMatcher(pattern: string): Go {
    let at = 0;
    const any = (): Go => {
      const parts = [all()];
      while (pattern[at] === "|") {
        at += 1;
        parts.push(all());
      }
      return (from, then) => parts.some((part) => part(from, then));
    };
    const all = (): Go => {
      const parts: Go[] = [];
      while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") parts.push(repeated(one()));
      return parts.reduceRight<Go>(
        (rest, part) => (from, then) => part(from, (next) => rest(next, then)),
        (from, then) => then(from),
      );
    };
    const one = (): Go => {
      const char = pattern[at++] ?? "";
      if (char === "(") {
        const inner = any();
        at += 1;
        return inner;
      }
      const test = char === "[" ? "[ab]" : char === "\\" ? "\\w" : char;
      at += char === "[" ? 3 : char === "\\" ? 1 : 0;
      const expression = new RegExp(`^${test}$`, "s");
      return (from, then) => !limit() && expression.test(text[from] ?? "") && then(from + 1);
    };
    const repeated = (part: Go): Go => {
      const bounds = /^(?:\*|\+|\?|\{(\d),(\d)\})/.exec(pattern.slice(at));
      if (bounds === null) return part;
      at += bounds[0].length;
      const min = bounds[1] === undefined ? (bounds[0] === "+" ? 1 : 0) : Number(bounds[1]);
      const max = bounds[2] === undefined ? (bounds[0] === "?" ? 1 : Infinity) : Number(bounds[2]);
      const go = (times: number, from: number, then: (at: number) => boolean): boolean => {
        if (limit()) return false;
        const more = times < max && part(from, (next) => (next > from || times < min) && go(times + 1, next, then));
        return more || (times >= min && then(from));
      };
      return (from, then) => go(0, from, then);
    };
    return any();
  }
}
