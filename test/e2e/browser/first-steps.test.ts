// The browser tool through the front door: the common path from an empty profile to a clicked button.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";

describe("browser", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  before(async () => {
    ground = await startBrowserGround();
  });
  after(() => ground.close());

  test("opens a page, reads it as a snapshot and clicks a button by its number", async () => {
    const opened = await ground.open("/", `<h1>Hi</h1><button onclick="this.textContent='Done'">Go</button>`);
    assert.ok(opened.ok, JSON.stringify(opened));
    const before = await ground.snapshot();
    const ref = /button "Go" \[(\d+)\]/.exec(before)?.[1];
    assert.ok(ref, before);
    const clicked = await ground.browser({ action: "act", request: { kind: "click", ref } });
    assert.ok(clicked.ok, JSON.stringify(clicked));
    assert.match(await ground.snapshot(), /button "Done"/);
  });
});
