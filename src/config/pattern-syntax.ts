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
  return new PatternParser(source, flags).parse();
}

class PatternParser {
  readonly #chars: readonly string[];
  readonly #ignoreCase: boolean;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#chars = Array.from(source);
    this.#ignoreCase = flags.includes("i");
  }

  parse(): Piece {
    return this.#either();
  }

  #isDone(): boolean {
    return this.#at >= this.#chars.length;
  }

  /** Empty at the end. */
  #peek(offset = 0): string {
    return this.#chars[this.#at + offset] ?? "";
  }

  #next(): string {
    return this.#chars[this.#at++] ?? "";
  }

  /** Skips up to and including the first of these characters. */
  #skipPast(ends: string): void {
    while (!this.#isDone() && !ends.includes(this.#next()));
  }

  #eat(text: string): boolean {
    const fits = this.#chars.slice(this.#at, this.#at + text.length).join("") === text;
    if (fits) this.#at += text.length;
    return fits;
  }

  #either(): Piece {
    const parts = [this.#sequence()];
    while (this.#eat("|")) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] ?? { kind: "empty" }) : { kind: "any", parts };
  }

  #sequence(): Piece {
    const parts: Piece[] = [];
    while (!this.#isDone() && this.#peek() !== "|" && this.#peek() !== ")") parts.push(this.#quantified(this.#atom()));
    return { kind: "all", parts };
  }

  #quantified(part: Piece): Piece {
    const range = this.#bounds();
    if (range === undefined) return part;
    this.#eat("?");
    return { kind: "repeat", part, min: range[0], max: range[1] };
  }

  #bounds(): [number, number] | undefined {
    if (this.#eat("*")) return [0, Infinity];
    if (this.#eat("+")) return [1, Infinity];
    if (this.#eat("?")) return [0, 1];
    const braces = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#chars.slice(this.#at, this.#at + 24).join(""));
    if (braces === null) return undefined;
    this.#at += braces[0].length;
    const min = Number(braces[1]);
    return [min, braces[2] === undefined ? min : braces[3] === "" ? Infinity : Number(braces[3])];
  }

  #atom(): Piece {
    if (this.#eat("(")) return this.#group();
    if (this.#eat("[")) return char(this.#charClass());
    if (this.#eat("^") || this.#eat("$")) return { kind: "empty" };
    if (this.#eat(".")) return char(everyChar);
    if (this.#eat("\\")) return this.#escape();
    return char(this.#single(this.#next()));
  }

  #group(): Piece {
    const looks = this.#eat("?=") || this.#eat("?!") || this.#eat("?<=") || this.#eat("?<!");
    if (!looks && !this.#eat("?:") && this.#eat("?")) this.#skipPast(">:");
    const part = this.#either();
    this.#eat(")");
    return looks ? { kind: "look", part } : part;
  }

  #escape(): Piece {
    if (this.#eat("b") || this.#eat("B")) return { kind: "empty" };
    // A back reference repeats earlier text, so it counts as any text.
    if (/^[1-9k]/.test(this.#peek())) {
      if (this.#next() === "k") this.#skipPast(">");
      return { kind: "repeat", part: char(everyChar), min: 0, max: Infinity };
    }
    return char(this.#escapedSet());
  }

  #escapedSet(): CharSet {
    const entry = this.#next();
    const known = classes[entry];
    if (known !== undefined) return known;
    if (entry === "p" || entry === "P") {
      this.#skipPast("}");
      return everyChar;
    }
    if (entry === "c") return this.#single(String.fromCodePoint((this.#next() || "@").charCodeAt(0) % 32));
    const hex = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\})/.exec(
      entry + this.#chars.slice(this.#at, this.#at + 8).join(""),
    );
    if (hex === null) return this.#single(controls[entry] ?? entry);
    this.#at += hex[0].length - 1;
    return this.#single(String.fromCodePoint(Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "0", 16)));
  }

  #charClass(): CharSet {
    const negated = this.#eat("^");
    const ranges: (readonly [number, number])[] = [];
    while (!this.#isDone() && !this.#eat("]")) {
      const low = this.#classAtom();
      const isRange = this.#peek() === "-" && !["]", ""].includes(this.#peek(1));
      if (!isRange) {
        ranges.push(...low);
        continue;
      }
      this.#at += 1;
      const high = this.#classAtom();
      ranges.push([Math.min(...low.map(([from]) => from)), Math.max(...high.map(([, to]) => to))]);
    }
    const set = this.#ignoreCase ? withBothCases(ranges) : ranges;
    return negated ? complement(set) : set;
  }

  #classAtom(): CharSet {
    if (!this.#eat("\\")) return [pointOf(this.#next())];
    if (this.#eat("b")) return [[8, 8]];
    return this.#escapedSet();
  }

  #single(text: string): CharSet {
    const set = [pointOf(text)];
    return this.#ignoreCase ? withBothCases(set) : set;
  }
}

const char = (set: CharSet): Piece => ({ kind: "char", set });

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
