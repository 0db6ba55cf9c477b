// Performs one step of `act` on a tab.
import type { Locator, Page } from "playwright-core";

import { browserError } from "../errors.ts";
import { pageFunction } from "../page-function.ts";
import type { Tab } from "../tab.ts";
import { actFailure } from "./failure.ts";
import type { Kind, Step, StepOf } from "./request.ts";
import { markText, pointOfText } from "./mark-text.ts";
import { quickClick } from "./quick-click.ts";
import { waitFor } from "./wait.ts";

const ACTION_MS = 5000;
const WAIT_MS = 20_000;
const PAST_MIDDLE = 4;

export interface StepContext {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The value of `evaluate`; undefined for all others. */
export async function performStep(tab: Tab, step: Step, context: StepContext): Promise<unknown> {
  const usual = step.kind === "wait" || step.kind === "evaluate" ? WAIT_MS : ACTION_MS;
  const ms = Math.min(step.timeoutMs ?? usual, context.timeoutMs);
  try {
    const perform = performers[step.kind] as (run: Run, step: Step) => Promise<unknown>;
    return await perform(
      {
        tab,
        page: tab.page,
        ms,
        signal: context.signal,
        find: (ref) => tab.locate(ref, { timeoutMs: ms, signal: context.signal }),
      },
      step,
    );
  } catch (error) {
    if (context.signal.aborted) throw error;
    throw actFailure(describe(step), error, ms);
  }
}

interface Run {
  readonly tab: Tab;
  readonly page: Page;
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly find: (ref: string | number) => Promise<Locator>;
}

const performers: { readonly [K in Kind]: (run: Run, step: StepOf<K>) => Promise<unknown> } = {
  click,
  async type({ find, ms, page }, { ref, text, submit = false, slowly = false }) {
    const locator = await find(ref);
    if (slowly) {
      await locator.click({ timeout: ms });
      await page.keyboard.type(text, { delay: 20 });
    } else await fillText(locator, text, ms);
    if (submit) await locator.press("Enter", { timeout: ms });
  },
  async press({ find, page, ms }, { key, ref, count = 1 }) {
    if (ref !== undefined) await (await find(ref)).focus({ timeout: ms });
    for (let done = 0; done < count; done++) await page.keyboard.press(key);
  },
  async hover({ find, page, ms }, { ref, x, y }) {
    if (ref !== undefined) return (await find(ref)).hover({ timeout: ms, ...position(x, y) });
    const point = requirePoint("hover", x, y);
    return page.mouse.move(point.x, point.y);
  },
  scrollIntoView: async ({ find, ms }, { ref }) => (await find(ref)).scrollIntoViewIfNeeded({ timeout: ms }),
  drag,
  async select({ find, page, ms }, { ref, values, text }) {
    const locator = await find(ref);
    if (values !== undefined) await locator.selectOption(values, { timeout: ms });
    else if (text !== undefined) await markText(page, locator, text, ms);
    else throw browserError("browser.bad-request", "select needs values (options of a list) or text (text to mark)");
  },
  async fill(run, { fields }) {
    for (const field of fields) await fillField(run, field);
  },
  resize: ({ page }, { width, height }) => page.setViewportSize({ width, height }),
  wait: ({ tab, ms, signal }, step) => waitFor(tab, step, ms, signal),
  async evaluate({ find, page, ms, signal }, { fn, ref }) {
    const source = `async (element) => { const value = (${fn}); return typeof value === "function" ? value(element) : value; }`;
    const work =
      ref === undefined
        ? page.evaluate(`(${source})()`)
        : (await find(ref)).evaluate(pageFunction<unknown, undefined, unknown>(source), undefined, { timeout: ms });
    return within(work, ms, signal);
  },
  close: ({ page }) => page.close(),
};

async function click({ find, page, tab, ms }: Run, step: StepOf<"click">): Promise<void> {
  const { ref, text, x, y, doubleClick = false, button = "left", modifiers } = step;
  const clickCount = doubleClick ? 2 : 1;
  if (ref === undefined || text !== undefined) {
    const point =
      text === undefined || ref === undefined
        ? requirePoint("click", x, y)
        : await pointOfText(await find(ref), text, ms);
    for (const key of modifiers ?? []) await page.keyboard.down(key);
    await page.mouse.click(point.x, point.y, { button, clickCount });
    for (const key of modifiers ?? []) await page.keyboard.up(key);
    return;
  }
  const locator = await find(ref);
  if (tab.references.find(ref)?.role === "option" && (await locator.evaluate(({ tagName }) => tagName)) === "OPTION")
    throw browserError(
      "browser.failed",
      `click failed: ref ${ref} is an option of a list. Use kind=select with values on the list.`,
    );
  // A picture may be replaced under the pointer, and then a click at once would miss it.
  if (tab.isGraphic(ref)) await locator.hover({ timeout: ms });
  const isPlain = clickCount === 1 && button === "left" && x === undefined && y === undefined && !modifiers?.length;
  if (isPlain && !tab.isGraphic(ref) && (await quickClick(tab, locator, ms))) return;
  const options = { timeout: ms, button, ...position(x, y), ...(modifiers === undefined ? {} : { modifiers }) };
  await (doubleClick ? locator.dblclick(options) : locator.click(options));
}

/** Real mouse moves, because pages follow them step by step. */
async function drag({ find, page, ms }: Run, step: StepOf<"drag">): Promise<void> {
  const { startRef, endRef, startX, startY, endX, endY, byX, byY } = step;
  const startAt = async () =>
    startRef === undefined ? requirePoint("drag", startX, startY) : pointIn(await find(startRef), ms, startX, startY);
  const start = await startAt();
  const endAt = async () => {
    if (endRef !== undefined) return pointIn(await find(endRef), ms, endX, endY, start);
    if (byX !== undefined || byY !== undefined) return { x: start.x + (byX ?? 0), y: start.y + (byY ?? 0) };
    return requirePoint("drag", endX, endY);
  };
  // Scrolling to the end may move the start.
  const end = await endAt();
  const from = endRef === undefined ? start : await startAt();
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + Math.sign(end.x - from.x) * 3, from.y + Math.sign(end.y - from.y) * 3);
  await page.mouse.move(end.x, end.y, { steps: 12 });
  await page.mouse.move(end.x, end.y);
  await page.mouse.up();
}

/** Lists that are sorted by dragging put an item behind another one only past its middle, seen from `from`. */
async function pointIn(
  locator: Locator,
  ms: number,
  x: number | undefined,
  y: number | undefined,
  from?: { readonly x: number; readonly y: number },
) {
  await locator.scrollIntoViewIfNeeded({ timeout: ms });
  const box = await locator.boundingBox({ timeout: ms });
  if (box === null)
    throw browserError(
      "browser.failed",
      "drag failed: the element is not visible. Scroll to it or open what contains it.",
    );
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const past = (at: number, start: number | undefined, size: number) =>
    start === undefined ? at : at + Math.sign(at - start) * Math.min(PAST_MIDDLE, size / 4);
  return {
    x: x === undefined ? past(middle.x, from?.x, box.width) : box.x + x,
    y: y === undefined ? past(middle.y, from?.y, box.height) : box.y + y,
  };
}

async function fillField(
  { find, ms }: Run,
  { ref, type = "text", value }: StepOf<"fill">["fields"][number],
): Promise<void> {
  const locator = await find(ref);
  if (type === "checkbox" || type === "radio" || typeof value === "boolean")
    return locator.setChecked(value === true || value === "true" || value === 1, { timeout: ms });
  const tag = await locator.evaluate((element) => element.tagName);
  const text = String(value ?? "");
  if (tag === "SELECT") await locator.selectOption(text, { timeout: ms });
  else await fillText(locator, text, ms);
}

/** A field for dates, times or colors stays empty when the text has another format. */
async function fillText(locator: Locator, text: string, ms: number): Promise<void> {
  await locator.fill(text, { timeout: ms });
  if (text === "") return;
  const isEmpty = await locator.evaluate(
    pageFunction<unknown, undefined, boolean>(
      `({ value, type }) => value === "" && /^(date|time|month|week|datetime-local|number|color)$/.test(type)`,
    ),
    undefined,
    { timeout: ms },
  );
  if (isEmpty)
    throw browserError(
      "browser.failed",
      "type failed: the field did not accept the text. Date fields take 2030-01-31, time fields 22:15, months 2030-01, number fields digits.",
    );
}

async function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(
    () => reject(browserError("browser.timeout", `the script did not finish within ${ms} ms`)),
    ms,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function position(x: number | undefined, y: number | undefined) {
  return x === undefined || y === undefined ? {} : { position: { x, y } };
}

function requirePoint(kind: string, x: number | undefined, y: number | undefined) {
  if (x !== undefined && y !== undefined) return { x, y };
  throw browserError("browser.bad-request", `${kind} needs a ref, or a point of the viewport`, {
    hint: "take a snapshot and use a ref from it",
  });
}

function describe(step: Step): string {
  return "ref" in step && step.ref !== undefined ? `${step.kind} on ref ${String(step.ref).slice(0, 40)}` : step.kind;
}
