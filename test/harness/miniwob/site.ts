// The MiniWoB++ pages on the test server, and their episodes: started and judged through a connection of the test.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";

import type { FakeWeb } from "../../fakes/web.ts";
import { shared } from "../gateway.ts";

const root = join(shared, "miniwob");
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".png": "image/png",
  ".gif": "image/gif",
};

export function serveTasks(web: FakeWeb): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const type = types[extname(entry.name)] ?? "application/octet-stream";
    web.page(file.slice(root.length), readFileSync(file), type);
  }
}

export const taskNames = (): string[] => readdirSync(join(root, "tasks")).map((name) => name.replace(/\.html$/, ""));

export interface Episodes {
  start(task: string, seed?: string): Promise<void>;
  /** Above 0 is solved; undefined while the episode runs. */
  verdict(task: string): Promise<number | undefined>;
  close(): Promise<void>;
}

export async function connectEpisodes(cdpPort: number): Promise<Episodes> {
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${cdpPort}`);
  return {
    async start(task, seed = "7") {
      const page = await openPage(browser, task);
      await page.waitForLoadState("load");
      await page.evaluate(
        `core.EPISODE_MAX_TIME = 600000; Math.seedrandom?.(${JSON.stringify(seed)}); core.startEpisodeReal()`,
      );
    },
    verdict: (task) => pageOf(browser, task).evaluate(`WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : undefined`),
    close: () => browser.close(),
  };
}

/** The URL reaches this connection a moment after the tool answered. */
async function openPage(browser: Browser, task: string): Promise<Page> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  return Promise.any(
    pages.map(async (page) => {
      await page.waitForURL(`**/tasks/${task}.html`, { waitUntil: "commit", timeout: 10_000 });
      return page;
    }),
  );
}

function pageOf(browser: Browser, task: string): Page {
  const pages = browser.contexts().flatMap((context) => context.pages());
  const found = pages.findLast((page) => page.url().includes(`/tasks/${task}.html`));
  if (found === undefined) throw new Error(`no tab shows ${task}`);
  return found;
}
