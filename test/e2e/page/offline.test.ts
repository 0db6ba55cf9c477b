// The page while the gateway is not reachable.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { Browser } from "playwright-core";

import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ensurePage, launchBrowser, noBrowser, openLinked } from "../../harness/page.ts";

describe("the page while the gateway is not reachable", { skip: noBrowser }, () => {
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

  test("the example of the empty chat runs, and a hint that is not a command has no copy button", async () => {
    const { page, context } = await openLinked(browser, gateway);
    const write = async (text: string): Promise<void> => {
      await page.getByLabel("Message", { exact: true }).fill(text);
      await page.keyboard.press("Enter");
    };
    await write("/tool session_status {}");
    await page.locator(".message.reply").getByText("agent:main:main").first().waitFor();
    await write('/tool read {"path":"not-there.txt"}');
    const failure = page.getByRole("alert").filter({ hasText: "there is no such file or folder" });
    await failure.getByText("read the parent folder to see what exists").waitFor();
    assert.equal(await failure.getByRole("button").count(), 0);
    await context.close();
  });

  test("every view can be opened while the gateway is not reachable", async () => {
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
