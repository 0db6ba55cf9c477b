// Waits until all given conditions hold, under one deadline.
import { setTimeout as delay } from "node:timers/promises";

import { browserError } from "../errors.ts";
import type { Tab } from "../tab.ts";
import type { StepOf } from "./request.ts";

export async function waitFor({ page }: Tab, step: StepOf<"wait">, ms: number, signal: AbortSignal): Promise<void> {
  const { timeMs, text, textGone, selector, url, loadState, fn } = step;
  if ([timeMs, text, textGone, selector, url, loadState, fn].every((value) => value === undefined))
    throw browserError("browser.bad-request", "wait needs timeMs, text, textGone, selector, url, loadState or fn");
  const end = Date.now() + ms;
  const rest = () => ({ timeout: Math.max(1, end - Date.now()), signal });
  if (timeMs !== undefined) await delay(Math.min(timeMs, ms), undefined, { signal });
  if (text !== undefined)
    await page
      .getByText(text)
      .filter({ visible: true })
      .first()
      .waitFor({ state: "visible", ...rest() });
  if (textGone !== undefined)
    await page
      .getByText(textGone)
      .filter({ visible: true })
      .first()
      .waitFor({ state: "hidden", ...rest() });
  if (selector !== undefined)
    await page
      .locator(selector)
      .first()
      .waitFor({ state: "visible", ...rest() });
  if (url !== undefined) await page.waitForURL(url, { waitUntil: "commit", ...rest() });
  if (loadState !== undefined) await page.waitForLoadState(loadState, rest());
  if (fn !== undefined) await page.waitForFunction(`(${fn})()`, undefined, rest());
}
