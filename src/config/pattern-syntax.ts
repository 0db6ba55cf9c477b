// Parses regular expressions into a tree with enough detail to check repetition. Expects a source that compiles.

/** Inclusive ranges of code points. */
export type CharSet = readonly (readonly [from: number, to: number])[];

export type Piece =
  | { readonly kind: "char"; readonly set: CharSet }
  | { readonly kind: "empty" }
  | { readonly kind: "all" | "any"; readonly parts: readonly Piece[] }
  | { readonly kind: "repeat"; readonly part: Piece; readonly min: number; readonly max: number }
  /** Matches without consuming text: checked separately. */
  | { readonly kind: "look"; readonly part: Piece };

export const everyChar: CharSet = [[0, 0x10ffff]];

export function parsePattern(source: string, flags: string): Piece {
  const chars = Array.from(source);
  const ignoreCase = flags.includes("i");
  let at = 0;

  const eat = (text: string): boolean => {
    const fits = chars.slice(at, at + text.length).join("") === text;
    if (fits) at += text.length;
    return fits;
  };

  const either = (): Piece => {
    const parts = [sequence()];
    while (eat("|")) parts.push(sequence());
    return parts.length === 1 ? (parts[0] ?? { kind: "empty" }) : { kind: "any", parts };
  };

  const sequence = (): Piece => {
    const parts: Piece[] = [];
    while (at < chars.length && chars[at] !== "|" && chars[at] !== ")") parts.push(quantified(atom()));
    return { kind: "all", parts };
  };

  const quantified = (part: Piece): Piece => {
    const range = bounds();
    if (range === undefined) return part;
    eat("?");
    return { kind: "repeat", part, min: range[0], max: range[1] };
  };

  const bounds = (): [number, number] | undefined => {
    if (eat("*")) return [0, Infinity];
    if (eat("+")) return [1, Infinity];
    if (eat("?")) return [0, 1];
    const braces = /^\{(\d+)(?:(,)(\d*))?\}/.exec(chars.slice(at, at + 24).join(""));
    if (braces === null) return undefined;
    at += braces[0].length;
    const min = Number(braces[1]);
    return [min, braces[2] === undefined ? min : braces[3] === "" ? Infinity : Number(braces[3])];
  };

  const atom = (): Piece => {
    if (eat("(")) return group();
    if (eat("[")) return char(charClass());
    if (eat("^") || eat("$")) return { kind: "empty" };
    if (eat(".")) return char(everyChar);
    if (eat("\\")) return escape();
    return char(single(chars[at++] ?? ""));
  };

  const group = (): Piece => {
    const looks = eat("?=") || eat("?!") || eat("?<=") || eat("?<!");
    if (!looks && !eat("?:") && eat("?")) while (at < chars.length && chars[at++] !== ">" && chars[at - 1] !== ":");
    const part = either();
    eat(")");
    return looks ? { kind: "look", part } : part;
  };

  const escape = (): Piece => {
    if (eat("b") || eat("B")) return { kind: "empty" };
    // A back reference repeats earlier text, so it counts as any text.
    if (/^[1-9k]/.test(chars[at] ?? "")) {
      if (chars[at++] === "k") while (at < chars.length && chars[at++] !== ">");
      return { kind: "repeat", part: char(everyChar), min: 0, max: Infinity };
    }
    return char(escapedSet());
  };

  const escapedSet = (): CharSet => {
    const entry = chars[at++] ?? "";
    const known = classes[entry];
    if (known !== undefined) return known;
    if (entry === "p" || entry === "P") {
      while (at < chars.length && chars[at++] !== "}");
      return everyChar;
    }
    if (entry === "c") return single(String.fromCodePoint((chars[at++] ?? "@").charCodeAt(0) % 32));
    const hex = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\})/.exec(
      entry + chars.slice(at, at + 8).join(""),
    );
    if (hex === null) return single(controls[entry] ?? entry);
    at += hex[0].length - 1;
    return single(String.fromCodePoint(Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "0", 16)));
  };

  const charClass = (): CharSet => {
    const negated = eat("^");
    const ranges: (readonly [number, number])[] = [];
    while (at < chars.length && !eat("]")) {
      const low = classAtom();
      const isRange = chars[at] === "-" && chars[at + 1] !== "]" && at + 1 < chars.length;
      if (!isRange) {
        ranges.push(...low);
        continue;
      }
      at += 1;
      const high = classAtom();
      ranges.push([Math.min(...low.map(([from]) => from)), Math.max(...high.map(([, to]) => to))]);
    }
    const set = ignoreCase ? withBothCases(ranges) : ranges;
    return negated ? complement(set) : set;
  };

  const classAtom = (): CharSet => {
    if (!eat("\\")) return [pointOf(chars[at++] ?? "")];
    if (eat("b")) return [[8, 8]];
    return escapedSet();
  };

  const char = (set: CharSet): Piece => ({ kind: "char", set });
  const single = (text: string): CharSet => {
    const set = [pointOf(text)];
    return ignoreCase ? withBothCases(set) : set;
  };
  return either();
}

function pointOf(text: string): readonly [number, number] {
  const point = text.codePointAt(0) ?? 0;
  return [point, point];
}

const classes: Readonly<Record<string, CharSet>> = (() => {
  const digit: CharSet = [[48, 57]];
  const word: CharSet = [
    [48, 57],
    [65, 90],
    [95, 95],
    [97, 122],
  ];
  const space: CharSet = [
    [9, 13],
    [32, 32],
    [160, 160],
    [0x1680, 0x1680],
    [0x2000, 0x200a],
    [0x2028, 0x2029],
    [0x202f, 0x202f],
    [0x205f, 0x205f],
    [0x3000, 0x3000],
    [0xfeff, 0xfeff],
  ];
  return { d: digit, D: complement(digit), w: word, W: complement(word), s: space, S: complement(space) };
})();

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", v: "\v", f: "\f", "0": "\0" };

function complement(set: CharSet): CharSet {
  const gaps: (readonly [number, number])[] = [];
  let next = 0;
  for (const [from, to] of set.toSorted((a, b) => a[0] - b[0])) {
    if (from > next) gaps.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  return next <= 0x10ffff ? [...gaps, [next, 0x10ffff]] : gaps;
}

/** Exact for ASCII; beyond it any letter counts as any other, which only makes the check stricter. */
function withBothCases(set: CharSet): CharSet {
  return set.flatMap(([from, to]): CharSet => {
    const shifted = (low: number, high: number, by: number): CharSet =>
      from <= high && to >= low ? [[Math.max(from, low) + by, Math.min(to, high) + by]] : [];
    const beyond: CharSet = to > 127 ? [[128, 0x10ffff]] : [];
    return [[from, to], ...shifted(65, 90, 32), ...shifted(97, 122, -32), ...beyond];
  });
}
