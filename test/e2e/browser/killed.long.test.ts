// The browser is killed in the middle of an action: the call ends with its result or a clear error, and the next one works.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { assertWorks, browserPid, killDuring, openReacting, openRunning } from "../../harness/browser-faults.ts";
import { noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";

describe("browser killed during an action", { skip: noBrowser }, () => {
  let ground: BrowserGround;

  before(async () => {
    ground = await startBrowserGround();
    await assertWorks(ground);
  });
  after(() => ground?.close());

  /** The server never answers, and reports the request. */
  function neverAnswered(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    ground.web.on("/never", () => resolve());
    return promise;
  }

  for (const action of ["open", "navigate"])
    test(`${action} ends when the browser is killed in the middle of it, and the next call works`, async () => {
      await ground.open("/fault", "<button>Calm</button>");
      const reached = neverAnswered();
      await killDuring(ground, ground.browser({ action, targetUrl: ground.at("/never") }), reached);
      await assertWorks(ground);
    });

  test("open works at once after the browser was killed", async () => {
    for (let round = 0; round < 3; round++) {
      process.kill(browserPid(ground), "SIGKILL");
      const opened = await ground.open("/again", "<h1>Again</h1>");
      assert.ok(opened.ok, JSON.stringify(opened));
    }
    await assertWorks(ground);
  });

  test("close ends when the browser is killed in the middle of it, and the next call works", async () => {
    const page = `<script>addEventListener("pagehide", () => reached())</script><h1>Closing</h1>`;
    const { reached, targetId } = await openReacting(ground, page);
    await killDuring(ground, ground.browser({ action: "close", targetId }), reached);
    await assertWorks(ground);
  });

  /** The page answers nothing, so those that read it cannot end before the browser does. */
  for (const [action, options] of [
    ["snapshot", {}],
    ["screenshot", {}],
    ["pdf", {}],
    ["console", {}],
    ["tabs", {}],
    ["focus", {}],
    ["dialog", { accept: true }],
    ["status", {}],
  ] as const)
    test(`${action} ends when the browser is killed during it, and the next call works`, async () => {
      const { details } = await openRunning(ground, "/fault", "for (;;);");
      const { targetId } = details;
      const names = action === "tabs" || action === "status" ? {} : { targetId };
      const pending = ground.browser({ action, options, ...names });
      // The gateway answers requests in the order in which they arrive, as long as they need no page.
      await killDuring(ground, pending, ground.browser({ action: "profiles" }));
      await assertWorks(ground);
    });
});
