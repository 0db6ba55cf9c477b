// The Overview shows MCP servers that changed their tools since the owner approved them.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import type { Browser } from "playwright-core";

import { openclaw, tempHome } from "../../harness/gateway.ts";
import { fakeStdio, startMcpGateway } from "../../harness/mcp-client.ts";
import { ensurePage, launchBrowser, noBrowser, openLinked, phone } from "../../harness/page.ts";

describe("MCP servers on the page", { skip: noBrowser }, () => {
  let browser: Browser;
  before(async () => {
    await ensurePage();
    browser = await launchBrowser();
  });
  after(() => browser.close());

  test("Overview names a server that changed its tools and the command to approve them, until they are approved", async (t) => {
    const home = tempHome();
    const changedFile = join(home, "changed");
    const runtime = await startMcpGateway({ fake: fakeStdio({ env: { FAKE_CHANGED: changedFile } }) }, { home });
    t.after(() => runtime.close());
    const approve = async (): Promise<void> => {
      const { code, stderr } = await openclaw(home, ["mcp", "approve", "fake", "--yes"]);
      assert.equal(code, 0, stderr);
    };
    await approve();
    assert.ok((await runtime.call("fake__echo", { text: "before" })).ok);
    const { page, pageErrors, context } = await openLinked(browser, runtime.gateway, { viewport: phone });
    const note = page.getByRole("note", { name: "Caution" }).filter({ hasText: "MCP server" });
    const openOverview = async (): Promise<void> => {
      await page.goto(`${runtime.gateway.url}/#/overview`);
      await page.reload();
      await page.getByText("Healthy", { exact: true }).waitFor();
    };
    await openOverview();
    assert.equal(await note.count(), 0);

    writeFileSync(changedFile, "");
    await runtime.call("fake__changed");
    await runtime.call("fake__die");
    assert.equal((await runtime.call("fake__echo", { text: "x" })).ok, false);
    await openOverview();
    await note.waitFor();
    assert.match(
      await note.innerText(),
      /^MCP server fake changed its tools since you approved them: changed echo; new added\. .*\s+To change this:\s+openclaw mcp approve fake/,
    );
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), phone.width);

    await approve();
    await openOverview();
    await note.waitFor({ state: "detached" });
    assert.deepEqual(pageErrors, []);
    await context.close();
  });
});
