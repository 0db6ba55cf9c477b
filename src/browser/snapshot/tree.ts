// Reads the accessibility tree of a page, or of a part of it.
import { setTimeout as sleep } from "node:timers/promises";

import type { Locator, Page } from "playwright-core";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** An element with a role. Children that are strings are texts. */
export interface AriaNode {
  readonly role: string;
  readonly name?: string;
  readonly ref?: string;
  readonly text?: string;
  readonly box?: Box;
  readonly children?: readonly (AriaNode | string)[];
  /** States and properties, such as `checked`, `level`, `url`. */
  readonly [property: string]: unknown;
}

export interface ReadOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly boxes?: boolean;
}

const SILENT_MS = 500;
const SILENT_READ_MS = 1000;

export async function readTree(from: Page | Locator, options: ReadOptions): Promise<readonly AriaNode[]> {
  const page = "mainFrame" in from ? from : from.page();
  if (!(await hasSilentFrame(page))) return readWithin(from, options, options.timeoutMs);
  try {
    return await readWithin(from, options, Math.min(options.timeoutMs, SILENT_READ_MS));
  } catch (error) {
    // The page itself was slow: its silent frames then cost the whole time.
    if (error instanceof Error && error.name === "TimeoutError") return readWithin(from, options, options.timeoutMs);
    throw error;
  }
}

async function readWithin(from: Page | Locator, options: ReadOptions, timeout: number): Promise<readonly AriaNode[]> {
  const { signal, boxes = false } = options;
  return (await from.ariaSnapshotJSON({ mode: "ai", timeout, signal, boxes })) as readonly AriaNode[];
}

/**
 * Whether a frame runs no script, such as one whose request is still held back. Playwright waits for it until the
 * timeout and then leaves it out.
 */
async function hasSilentFrame(page: Page): Promise<boolean> {
  const frames = page.frames().filter((frame) => frame !== page.mainFrame());
  if (frames.length === 0) return false;
  const answers = frames.map((frame) =>
    frame.evaluate("1").then(
      () => true,
      // It was removed or shows another page now.
      () => true,
    ),
  );
  const isAnswered = Promise.all(answers).then(() => true);
  return !(await Promise.race([isAnswered, sleep(SILENT_MS, false, { ref: false })]));
}

export function childrenOf(node: AriaNode): readonly (AriaNode | string)[] {
  return node.children ?? [];
}

/** Every element in document order. */
export function* elementsOf(tree: readonly (AriaNode | string)[]): Generator<AriaNode> {
  const stack: (AriaNode | string)[] = [...tree].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === "string") continue;
    yield node;
    const children = childrenOf(node);
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index];
      if (child !== undefined) stack.push(child);
    }
  }
}
