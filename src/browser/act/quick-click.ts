// A click on an element that is ready at once, in few round trips. Playwright takes over when it is not.
import type { ElementHandle, Locator } from "playwright-core";

import { pageFunction } from "../page-function.ts";
import type { Tab } from "../tab.ts";

interface Point {
  readonly x: number;
  readonly y: number;
}

const NAVIGATE_MS = 5000;

/**
 * False when the element is hidden, disabled, covered, out of view or moved away from the pointer; the page saw no click
 * then. Playwright first waits two frames for an element to stand still; here the page checks the pointer's events
 * themselves, so that none hits another element.
 */
export async function quickClick(tab: Tab, locator: Locator, ms: number): Promise<boolean> {
  const element = (await locator.elementHandle({ timeout: ms })) as ElementHandle | null;
  if (element === null) return false;
  try {
    const point: Point | null = await element.evaluate(prepare, undefined);
    if (point === null) return false;
    await tab.page.mouse.click(point.x, point.y);
    const hasMissed = await element.evaluate(finish, undefined).catch(() => false);
    if (hasMissed) return false;
    await tab.events.untilNavigated(Math.min(ms, NAVIGATE_MS));
    return true;
  } finally {
    // A page that navigated has released it already.
    element.dispose().catch(() => undefined);
  }
}

/** The middle of the element when a click there hits it. From then on only it gets events of the pointer. */
const prepare = pageFunction<unknown, undefined, Point | null>(String.raw`(element) => {
  if (!(element instanceof Element) || !element.isConnected || window !== window.top) return null;
  if (element.matches(":disabled, option") || element.closest("[aria-disabled=true], label") !== null) return null;
  if (!element.checkVisibility({ visibilityProperty: true })) return null;
  if (element.getAnimations({ subtree: false }).length > 0 || element.getClientRects().length !== 1) return null;
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  if (width < 1 || height < 1 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return null;
  let hit = document.elementFromPoint(x, y);
  while (hit?.shadowRoot && hit !== element) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (inner === null || inner === hit) break;
    hit = inner;
  }
  const isInside = (node) => {
    for (let one = node; one; one = one.parentNode ?? one.host) if (one === element) return true;
    return false;
  };
  if (!isInside(hit)) return null;
  const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
  let isAimed;
  const check = (event) => {
    if (!event.isTrusted) return;
    // The element may move or go when it is pressed, and that is its own reaction.
    isAimed ??= event.composedPath().includes(element);
    if (isAimed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const kind of kinds) addEventListener(kind, check, { capture: true, passive: false });
  element[Symbol.for("openclaw.finishClick")] = () => {
    delete element[Symbol.for("openclaw.finishClick")];
    for (const kind of kinds) removeEventListener(kind, check, { capture: true });
    return isAimed === false;
  };
  return { x, y };
}`);

const finish = pageFunction<unknown, undefined, boolean>(
  `(element) => element[Symbol.for("openclaw.finishClick")]?.() ?? false`,
);
