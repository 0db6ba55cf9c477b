// Takes a snapshot: reads the page, updates the references, and prints what the options ask for.
import type { Locator, Page } from "playwright-core";

import { browserError } from "../errors.ts";
import type { Tab } from "../tab.ts";
import { foldLines } from "./fold.ts";
import { readGraphics } from "./graphics.ts";
import { isInteractive, printLine, renderTree, type Line, type Style } from "./render.ts";
import { elementsOf, readTree, type AriaNode } from "./tree.ts";

export interface SnapshotOptions {
  readonly interactive?: boolean | undefined;
  readonly compact?: boolean | undefined;
  readonly depth?: number | undefined;
  readonly selector?: string | undefined;
  readonly frame?: string | undefined;
  readonly refs?: "role" | "aria" | undefined;
  /** 0 is unlimited. */
  readonly maxChars: number;
  /** Only lines that contain this, with their ancestors. */
  readonly find?: string | undefined;
  readonly fold?: boolean | undefined;
  /** Adds elements without text or role. */
  readonly graphics?: boolean | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly boxes?: boolean;
}

export interface Snapshot {
  readonly text: string;
  readonly truncated: boolean;
  readonly refs: Readonly<Record<string, { readonly role: string; readonly name?: string; readonly nth?: number }>>;
  readonly stats: {
    readonly lines: number;
    readonly chars: number;
    readonly refs: number;
    readonly interactive: number;
  };
  readonly tree: readonly AriaNode[];
  /** Lines that were printed. */
  readonly lines: readonly Line[];
}

export async function takeSnapshot(tab: Tab, options: SnapshotOptions): Promise<Snapshot> {
  const style = styleOf(options);
  const { tree, part } = await readParts(tab, options);
  const { references } = tab;
  references.isNative = style === "native" || (style === "ai" && references.isNative);
  if (options.selector === undefined && options.frame === undefined)
    tab.seen = renderTree(tree, references, { style: "ai" });
  const full =
    style === "ai" && part === tree && options.depth === undefined && tab.seen !== undefined
      ? tab.seen
      : renderTree(part, references, { ...rendering(options), style });
  if (options.graphics === true) tab.graphics = await readGraphics(tab.page, (count) => references.reserve(count));
  const extra = options.graphics === true ? (tab.graphics?.lines ?? []) : [];
  const chosen =
    options.find === undefined
      ? [...fold(full, style, options.fold), ...extra]
      : findLines([...full, ...extra], options.find);
  const { lines, text, truncated } = cut(chosen, style, options.maxChars);
  return { text, truncated, tree: part, lines, ...summary(tab, lines, text, style, part) };
}

function rendering({ interactive = false, compact = false, depth }: SnapshotOptions) {
  return { interactive, compact, depth };
}

function styleOf({ interactive, compact, depth, selector, frame, refs }: SnapshotOptions): Style {
  if (refs === "aria") return "native";
  const isRole = interactive === true || compact === true || depth !== undefined;
  return isRole || selector !== undefined || frame !== undefined || refs === "role" ? "role" : "ai";
}

/** A part is read inside the whole page, because reading an element alone would rename the others. */
async function readParts(
  tab: Tab,
  options: SnapshotOptions,
): Promise<{ tree: readonly AriaNode[]; part: readonly AriaNode[] }> {
  const { selector, frame } = options;
  const { page, references } = tab;
  const scope =
    selector === undefined && frame === undefined ? undefined : await requireScope(page, selector, frame, options);
  const tree = await readTree(page, options);
  references.update(tree);
  if (scope === undefined) return { tree, part: tree };
  const part = await readTree(scope, options);
  references.add(part);
  return { tree, part };
}

async function requireScope(
  page: Page,
  selector: string | undefined,
  frame: string | undefined,
  { signal }: SnapshotOptions,
): Promise<Locator> {
  const root = frame === undefined ? page : page.frameLocator(frame).first();
  const locator = root.locator(selector ?? "body").first();
  signal.throwIfAborted();
  const count = await locator.count().catch((error: unknown) => {
    throw browserError("browser.bad-request", `the selector is not valid: ${firstLine(error)}`, { cause: error });
  });
  if (count > 0) return locator;
  const what = selector === undefined ? `frame "${frame}"` : `selector "${selector}"`;
  throw browserError("browser.bad-request", `no element matches ${what}`, { hint: "take a snapshot without it" });
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}

function fold(lines: readonly Line[], style: Style, wanted: boolean | undefined): readonly Line[] {
  return (wanted ?? style === "ai") ? foldLines(lines) : lines;
}

/** Every word has to occur in the line; the ancestors say where it is. */
function findLines(lines: readonly Line[], find: string): Line[] {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const path: { line: Line; isPrinted: boolean }[] = [];
  const out: Line[] = [];
  for (const line of lines) {
    while (path.length > 0 && (path.at(-1)?.line.depth ?? 0) >= line.depth) path.pop();
    const text = line.text.toLowerCase();
    const isMatch = words.every((word) => text.includes(word));
    if (isMatch)
      for (const entry of path) {
        if (!entry.isPrinted) out.push(entry.line);
        entry.isPrinted = true;
      }
    if (isMatch) out.push(line);
    path.push({ line, isPrinted: isMatch });
  }
  return out;
}

function cut(
  lines: readonly Line[],
  style: Style,
  maxChars: number,
): { lines: Line[]; text: string; truncated: boolean } {
  const printed: string[] = [];
  const kept: Line[] = [];
  let chars = 0;
  for (const line of lines) {
    const text = printLine(line, style);
    chars += text.length + 1;
    if (maxChars > 0 && chars > maxChars) return { lines: kept, text: printed.join("\n"), truncated: true };
    printed.push(text);
    kept.push(line);
  }
  return { lines: kept, text: printed.join("\n"), truncated: false };
}

function summary({ references }: Tab, lines: readonly Line[], text: string, style: Style, tree: readonly AriaNode[]) {
  const refs: Record<string, { role: string; name?: string; nth?: number }> = {};
  const shown = new Set<string>();
  for (const { number, native } of lines) {
    const known = number === undefined ? undefined : references.get(number);
    if (known === undefined || native === undefined) continue;
    shown.add(native);
    const { role, name, nth, equals } = known;
    const key = style === "native" ? native : style === "ai" ? String(number) : `e${number}`;
    refs[key] = { role, ...(name === undefined ? {} : { name: name.slice(0, 200) }), ...(equals > 1 ? { nth } : {}) };
  }
  let interactive = 0;
  for (const node of elementsOf(tree))
    if (node.ref !== undefined && shown.has(node.ref) && isInteractive(node)) interactive++;
  return { refs, stats: { lines: lines.length, chars: text.length, refs: shown.size, interactive } };
}
