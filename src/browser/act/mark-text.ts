// Marks text in an element with the mouse, as a person does.
import type { Locator, Page } from "playwright-core";

import { browserError } from "../errors.ts";
import { pageFunction } from "../page-function.ts";

interface Ends {
  readonly left: number;
  readonly top: number;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

const findEnds = pageFunction<unknown, string, Ends | "field" | null>(String.raw`(element, text) => {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    const from = element.value.indexOf(text);
    if (from < 0) return null;
    element.focus();
    element.setSelectionRange(from, text === "" ? element.value.length : from + text.length);
    return "field";
  }
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const parts = [];
  let all = "";
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    parts.push({ node, from: all.length });
    all += node.data;
  }
  // Words that are all of an element, such as a link, come before the same words in a sentence.
  const own = parts.find(({ node }) => text !== "" && node.data.trim() === text);
  const start = own ? own.from + own.node.data.indexOf(text) : text === "" ? all.search(/\S/) : all.indexOf(text);
  if (start < 0) return null;
  const end = text === "" ? all.trimEnd().length : start + text.length;
  const rectAt = (offset) => {
    const part = parts.findLast(({ from }) => from <= offset);
    const range = document.createRange();
    range.setStart(part.node, offset - part.from);
    range.setEnd(part.node, Math.min(offset - part.from + 1, part.node.data.length));
    return range.getBoundingClientRect();
  };
  const [first, last] = [rectAt(start), rectAt(end - 1)];
  const { left, top } = element.getBoundingClientRect();
  return { left, top, x1: first.left + 0.5, y1: first.top + first.height / 2, x2: last.right, y2: last.top + last.height / 2 };
}`);

/**
 * Pages may round the pointer to words; then the selection is set as asked. Editors are notified of a selection a moment later,
 * so the next step waits for that.
 */
const selectExactly = pageFunction<unknown, string, Promise<void>>(String.raw`async (element, text) => {
  const notified = () => new Promise((resolve) => setTimeout(resolve, 50));
  await notified();
  const selection = getSelection();
  const squeeze = (words) => words.replace(/\s+/g, "");
  if (squeeze(selection.toString()) === squeeze(text === "" ? element.innerText : text)) return;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  range.selectNodeContents(element);
  for (let node = walker.nextNode(); node !== null && text !== ""; node = walker.nextNode()) {
    const from = node.data.indexOf(text);
    if (from < 0) continue;
    range.setStart(node, from);
    range.setEnd(node, from + text.length);
    break;
  }
  selection.removeAllRanges();
  selection.addRange(range);
  await notified();
}`);

/** The middle of the first occurrence of `text`, in pixels of the viewport. */
export async function pointOfText(locator: Locator, text: string, ms: number): Promise<{ x: number; y: number }> {
  await locator.scrollIntoViewIfNeeded({ timeout: ms });
  const ends = await locator.evaluate(findEnds, text, { timeout: ms });
  if (ends === null || ends === "field") throw noText(text);
  const box = await locator.boundingBox({ timeout: ms });
  // Words that continue on the next line are clicked where they begin.
  const x = Math.abs(ends.y1 - ends.y2) > 2 ? ends.x1 + 2 : (ends.x1 + ends.x2) / 2;
  return { x: x + (box?.x ?? 0) - ends.left, y: ends.y1 + (box?.y ?? 0) - ends.top };
}

function noText(text: string): Error {
  return browserError("browser.failed", `the element does not contain the text "${text.slice(0, 80)}"`);
}

/** The first occurrence of `text`; all text with "". */
export async function markText(page: Page, locator: Locator, text: string, ms: number): Promise<void> {
  await locator.scrollIntoViewIfNeeded({ timeout: ms });
  const ends = await locator.evaluate(findEnds, text, { timeout: ms });
  if (ends === null) throw noText(text);
  if (ends === "field") return;
  const box = await locator.boundingBox({ timeout: ms });
  const [x, y] = [(box?.x ?? 0) - ends.left, (box?.y ?? 0) - ends.top];
  await page.mouse.move(ends.x1 + x, ends.y1 + y);
  await page.mouse.down();
  await page.mouse.move(ends.x2 + x, ends.y2 + y, { steps: 8 });
  await page.mouse.up();
  await locator.evaluate(selectExactly, text, { timeout: ms });
}
