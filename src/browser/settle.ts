// Waits until a page has reacted to an action: loads, requests, animations and changes of its document.
import { setTimeout as delay } from "node:timers/promises";

import type { Tab } from "./tab.ts";

const LOAD_MS = 3000;
const REQUEST_MS = 1500;
const QUIET_MS = 400;
const POLL_MS = 20;

/** Bounded: a page that never rests is described as it is. */
export async function settle(tab: Tab, signal: AbortSignal): Promise<void> {
  await rest(tab, signal);
  if (!tab.events.isLoading) return;
  const end = performance.now() + REQUEST_MS;
  while (tab.events.isLoading && performance.now() < end) await delay(POLL_MS, undefined, { signal });
  await rest(tab, signal);
}

async function rest({ page }: Tab, signal: AbortSignal): Promise<void> {
  const late = delay(QUIET_MS + 100, "late", { signal, ref: false });
  try {
    await Promise.race([page.evaluate(`(${untilQuiet})(${QUIET_MS})`), late]);
  } catch (error) {
    signal.throwIfAborted();
    // The page navigated or closed meanwhile.
    if (!page.isClosed()) await loaded(page);
    else if (!(error instanceof Error)) throw error;
  }
}

async function loaded(page: Tab["page"]): Promise<void> {
  try {
    await page.waitForLoadState("domcontentloaded", { timeout: LOAD_MS });
  } catch (error) {
    // A page that loads slowly is described as it is.
    if (!(error instanceof Error && (error.name === "TimeoutError" || page.isClosed()))) throw error;
  }
}

/**
 * Runs in the page, after it handled the action. A page that changes nothing in the next frame is done. One that does is
 * waited for until it rests: scripts that animate change the document once per frame, which is about 17 ms.
 */
const untilQuiet = String.raw`(limit) => new Promise((resolve) => {
  const quiet = 25;
  const soon = 8;
  let timer = 0;
  let hasChanged = false;
  const observer = new MutationObserver(() => { hasChanged = true; restart(); });
  const done = () => { observer.disconnect(); clearTimeout(timer); clearTimeout(last); resolve(); };
  const last = setTimeout(done, limit);
  const restart = () => { clearTimeout(timer); timer = setTimeout(finish, quiet); };
  const finish = () => {
    const running = document.getAnimations().filter((one) =>
      one.playState === "running" && Number.isFinite(one.effect?.getComputedTiming().endTime));
    if (running.length === 0) done();
    else Promise.allSettled(running.map((one) => one.finished)).then(restart);
  };
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  restart();
  // A tab in the background has no frames; the timer ends the wait there.
  const frame = new Promise((passed) => requestAnimationFrame(() => setTimeout(passed)));
  Promise.all([frame, new Promise((passed) => setTimeout(passed, soon))]).then(() => { if (!hasChanged) finish(); });
})`;
