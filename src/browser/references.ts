// References of one tab: the numbers that snapshots print, and the elements behind them.
import { elementsOf, type AriaNode } from "./snapshot/tree.ts";

export interface Reference {
  /** Playwright's own name for the element. */
  readonly native: string;
  readonly role: string;
  readonly name?: string | undefined;
  /** Position among elements with the same role and name in the same frame, from 0. */
  readonly nth: number;
  /** How many elements share role and name. */
  readonly equals: number;
  /** Identifies the element after the page rendered it again; undefined when nothing tells it from others. */
  readonly key: string | undefined;
}

export class References {
  #next = 1;
  /** Native name → number. */
  readonly #numbers = new Map<string, number>();
  readonly #known = new Map<number, Reference>();
  /** True after a snapshot with refs=aria: `e12` then is a native name. */
  isNative = false;

  /** Numbers every element of a tree. The same element keeps its number, also after the page rendered it again. */
  update(tree: readonly (AriaNode | string)[]): void {
    const found = describe(tree);
    const live = new Set(found.map(({ native }) => native));
    this.#number(found, live);
    this.#forget(live);
  }

  /** Numbers the elements of a part of the page and keeps all others. */
  add(tree: readonly (AriaNode | string)[]): void {
    for (const reference of describe(tree)) {
      if (this.#numbers.has(reference.native)) continue;
      const number = this.#next++;
      this.#numbers.set(reference.native, number);
      this.#known.set(number, reference);
    }
  }

  #number(found: readonly Reference[], live: ReadonlySet<string>): void {
    const lost = new Map<string, number>();
    for (const [number, { native, key }] of this.#known)
      if (key !== undefined && !live.has(native)) lost.set(key, number);
    for (const reference of found) {
      const { native, key } = reference;
      const number = this.#numbers.get(native) ?? (key === undefined ? undefined : lost.get(key)) ?? this.#next++;
      const before = this.#known.get(number);
      if (before !== undefined && before.native !== native) this.#numbers.delete(before.native);
      this.#numbers.set(native, number);
      this.#known.set(number, reference);
    }
  }

  /** Pages that render all the time must not grow the table without end. */
  #forget(live: ReadonlySet<string>): void {
    const spare = this.#known.size - live.size - MAX_LOST;
    if (spare <= 0) return;
    let left = spare;
    for (const [number, { native }] of this.#known) {
      if (left === 0) return;
      if (live.has(native)) continue;
      this.#known.delete(number);
      this.#numbers.delete(native);
      left--;
    }
  }

  /** Takes numbers for elements that have no native name; returns the first one. */
  reserve(count: number): number {
    const first = this.#next;
    this.#next += count;
    return first;
  }

  numberOf(native: string): number | undefined {
    return this.#numbers.get(native);
  }

  get(number: number): Reference | undefined {
    return this.#known.get(number);
  }

  /** True for a number that an earlier snapshot printed, whatever became of its element. */
  wasGiven(ref: string | number): boolean {
    const digits = numberIn(bare(ref));
    return digits !== undefined && digits > 0 && digits < this.#next;
  }

  /** Accepts `12`, `e12`, `[12]`, and native names such as `f1e2`. */
  find(ref: string | number): Reference | undefined {
    const text = bare(ref);
    const named = /^(?:f\d{1,6})?e\d{1,9}$/.test(text) && (this.isNative || text.startsWith("f"));
    if (named) {
      const number = this.#numbers.get(text);
      return number === undefined ? undefined : this.#known.get(number);
    }
    const number = numberIn(text);
    return number === undefined ? undefined : this.#known.get(number);
  }

  /** Numbers are not used again, so that a reference from before a navigation cannot hit another element. */
  clear(): void {
    this.#numbers.clear();
    this.#known.clear();
    this.isNative = false;
  }
}

function bare(ref: string | number): string {
  return String(ref)
    .trim()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/^(?:ref=|@)/, "");
}

export function numberOfRef(ref: string | number): number | undefined {
  return numberIn(bare(ref));
}

function numberIn(text: string): number | undefined {
  const digits = /^e?(\d{1,9})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const MAX_LOST = 5000;
const MAX_KEY = 200;

function describe(tree: readonly (AriaNode | string)[]): Reference[] {
  const counts = new Map<string, number>();
  const nodes: { node: AriaNode; native: string; same: string; nth: number }[] = [];
  for (const node of elementsOf(tree)) {
    if (node.ref === undefined) continue;
    const same = `${frameOf(node.ref)} ${node.role} ${label(node)}`;
    const nth = counts.get(same) ?? 0;
    counts.set(same, nth + 1);
    nodes.push({ node, native: node.ref, same, nth });
  }
  return nodes.map(({ node, native, same, nth }) => {
    const equals = counts.get(same) ?? 1;
    const isNameless = node.role === "generic" && label(node) === "";
    // With another count of equals it is unclear which one is meant, so the key differs then.
    const key = isNameless ? undefined : `${same} ${nth}/${equals}`;
    return { native, role: node.role, name: node.name, nth, equals, key };
  });
}

function label({ role, name, text }: AriaNode): string {
  return (name ?? (role === "generic" ? text : undefined) ?? "").slice(0, MAX_KEY);
}

function frameOf(native: string): string {
  return /^f\d+/.exec(native)?.[0] ?? "";
}
