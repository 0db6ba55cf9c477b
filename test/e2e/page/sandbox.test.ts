// The page warns when the sandbox is off or cannot start, with the command that fixes it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { Browser } from "playwright-core";

import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ensurePage, launchBrowser, noBrowser, openLinked, phone } from "../../harness/page.ts";

describe("the sandbox on the page", { skip: noBrowser }, () => {
  let browser: Browser;
  before(async () => {
    await ensurePage();
    browser = await launchBrowser();
  });
  after(() => browser.close());

  async function readPage(
    gateway: TestGateway,
    check: (texts: { overview: string; exec: string }) => void,
  ): Promise<void> {
    const { page, pageErrors, context } = await openLinked(browser, gateway, { viewport: phone });
    const note = page.getByRole("note", { name: "Caution" });
    await page.goto(`${gateway.url}/#/overview`);
    await note.waitFor();
    const overview = await note.innerText();
    await page.goto(`${gateway.url}/#/tools/exec`);
    const runs = page.getByText(/^Runs /);
    await runs.waitFor();
    const exec = [await runs.innerText(), ...(await note.allInnerTexts())].join("\n");
    check({ overview, exec });
    assert.deepEqual(pageErrors, []);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), phone.width);
    await context.close();
    await dispose(gateway);
  }

  test("warns on Overview and next to exec when the sandbox is off", async () => {
    await readPage(await startGateway(), ({ overview, exec }) => {
      assert.match(overview, /^The sandbox is off for agent main: .* without approval\./);
      assert.match(overview, /openclaw config set agents\.defaults\.sandbox\.mode all/);
      assert.match(exec, /^Runs on the gateway host itself, without approvals, because the sandbox is off/);
      assert.match(exec, /openclaw config set agents\.defaults\.sandbox\.mode all/);
    });
  });

  test("shows reason and fix on Overview when no sandbox backend works", async () => {
    const gateway = await startGateway({
      config: { agents: { defaults: { sandbox: { mode: "all", backend: "docker" } } } },
      env: { DOCKER_HOST: "unix:///nonexistent/docker.sock" },
    });
    await readPage(gateway, ({ overview, exec }) => {
      assert.match(overview, /^A sandbox is configured for agent main but cannot start here: docker: /);
      assert.match(overview, /they do not run on the host instead/);
      assert.match(overview, /To change this:\s+\S/);
      assert.equal(exec, "Runs in the sandbox (backend docker), without approvals");
    });
  });
});
