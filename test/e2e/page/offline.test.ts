// The page while the gateway is away: what was never opened opens all the same, and says that it may be old.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { Browser } from "playwright-core";

import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ensurePage, launchBrowser, noBrowser, openLinked } from "../../harness/page.ts";

describe("the page and a gateway that goes away", { skip: noBrowser }, () => {
  let gateway: TestGateway;
  let browser: Browser;

  before(async () => {
    await ensurePage();
    gateway = await startGateway({ config: {} });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await dispose(gateway);
  });

  test("a fresh workspace: the example of the empty chat runs, and a hint in words is no command to copy", async () => {
    const { page, context } = await openLinked(browser, gateway);
    const write = async (words: string): Promise<void> => {
      await page.getByLabel("Message", { exact: true }).fill(words);
      await page.keyboard.press("Enter");
    };
    await write("/tool session_status {}");
    await page.locator(".message.reply").getByText("agent:main:main").first().waitFor();
    await write('/tool read {"path":"not-there.txt"}');
    const failure = page.getByRole("alert").filter({ hasText: "there is no such file or folder" });
    await failure.getByText("look at what is there first").waitFor();
    assert.equal(await failure.getByRole("button").count(), 0);
    await context.close();
  });

  test("views are read ahead, so that each can be opened without it", async () => {
    const { page } = await openLinked(browser, gateway);
    await page.waitForFunction(
      () =>
        performance.getEntriesByType("resource").filter(({ name }) => /(?:cron|nodes|overview|tools)-/.test(name))
          .length >= 4,
    );
    await page.waitForLoadState("networkidle"); // what they share, too
    await gateway.stop("SIGKILL");
    await page.getByText("Disconnected:").waitFor();
    for (const name of ["Cron", "Nodes", "Overview", "Tools"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
    }
    assert.equal(await page.getByText("could not be loaded: the gateway is not reachable").count(), 0);
  });
});
