// Browsers and pages that fail: every call ends with a clear error within its deadline, and the next one works.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { assertWorks, browserPid, openRunning } from "../../harness/browser-faults.ts";
import { noBrowser, startBrowserGround, until, type BrowserGround } from "../../harness/browser.ts";

const MB = 1024 * 1024;

describe("browser faults", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  const works = (): Promise<void> => assertWorks(ground);
  const memoryMb = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${ground.gateway.pid}/status`, "utf8"))?.[1]) / 1024;

  before(async () => {
    ground = await startBrowserGround();
    await works();
  });
  after(() => ground.close());

  test("a page that hangs fails the call at its deadline, and the same tab works afterwards", async () => {
    const opened = await openRunning(ground, "/hang", "for (;;);");
    const { targetId } = opened.details;
    const stuck = await ground.browser({ action: "snapshot", targetId, timeoutMs: 2000 });
    assert.equal(stuck.error?.code, "browser.timeout", JSON.stringify(stuck));
    const again = await ground.browser({ action: "snapshot", targetId });
    assert.match(again.text, /Hang/, JSON.stringify(again));
    await works();
  });

  test("a page that crashes is reported and its tab closed", async () => {
    const opened = await ground.open("/crash", "<h1>Crash</h1>");
    const { targetId } = opened.details;
    killRenderers(browserPid(ground));
    const answers = [
      await ground.browser({ action: "snapshot", targetId }),
      await ground.browser({ action: "snapshot", targetId }),
    ];
    assert.ok(
      answers.some(({ error }) => error?.code === "browser.crashed"),
      JSON.stringify(answers),
    );
    await works();
  });

  test("a page that opens 1000 dialogs does not block calls", async () => {
    ground.web.page(
      "/dialogs",
      "<h1>Dialogs</h1><script>setTimeout(() => { for (let i = 0; i < 1000; i++) alert(i); document.title = 'over'; }, 50)</script>",
    );
    await ground.browser({ action: "open", targetUrl: ground.at("/dialogs") });
    await until(async () => /over/.test((await ground.browser({ action: "tabs" })).text), "all dialogs are answered");
    assert.match(await ground.snapshot(), /Dialogs/);
    const seen = await ground.browser({ action: "console" });
    assert.match(seen.text, /alert dialog dismissed/);
    assert.ok(seen.text.length < 200_000);
    await works();
  });

  test("a page that opens dialogs without end fails at the deadline, and the next call works", async () => {
    await openRunning(ground, "/endless", "for (;;) alert('again');");
    const stuck = await ground.browser({ action: "act", request: { kind: "evaluate", fn: "1" }, timeoutMs: 2000 });
    assert.equal(stuck.ok, false);
    await works();
  });

  for (const [kind, chunk] of [
    ["text", "x".repeat(1023) + " "],
    ["elements", "<p>line</p>".repeat(93)],
  ] as const)
    test(`a page of 200 MB of ${kind} ends in time and the gateway stays small`, async () => {
      ground.web.on("/large", (_request, response) => {
        response.writeHead(200, { "content-type": "text/html" });
        const block = chunk.repeat(1024);
        let sent = 0;
        const more = (): void => {
          while (sent++ < 200) if (!response.write(block)) return void response.once("drain", more);
          response.end();
        };
        more();
      });
      const opened = await ground.browser({ action: "open", targetUrl: ground.at("/large"), timeoutMs: 15_000 });
      const answer = await ground.browser({ action: "snapshot", timeoutMs: 10_000 });
      for (const { ok, error } of [opened, answer])
        if (!ok) assert.match(error?.code ?? "", /^browser\.(?:timeout|crashed|gone|failed)$/);
      assert.ok(answer.text.length < 2 * 50_000, `${answer.text.length} characters`);
      assert.ok(memoryMb() < 900, `${memoryMb()} MB`);
      const { targetId } = opened.details;
      if (typeof targetId === "string") await ground.browser({ action: "close", targetId });
      await works();
    });

  test("a download without end is stopped at its limit, and the next call works", async () => {
    let sent = 0;
    ground.web.on("/bomb", (_request, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream", "content-disposition": "attachment" });
      const block = Buffer.alloc(MB);
      const more = (): void => {
        for (;;) {
          sent++;
          if (!response.write(block)) return void response.once("drain", more);
        }
      };
      more();
      response.once("close", () => response.removeAllListeners("drain"));
      response.once("close", () => (isOver = true));
    });
    let isOver = false;
    const answer = await ground.browser({ action: "open", targetUrl: ground.at("/bomb"), timeoutMs: 10_000 });
    assert.equal(answer.ok, false);
    await until(() => isOver, "the browser stopped the download");
    assert.ok(sent < 400, `${sent} MB were sent`);
    await works();
  });
});

/** Kills the processes that render pages. */
function killRenderers(browser: number): void {
  const folder = readFileSync(`/proc/${browser}/cmdline`, "utf8")
    .split("\0")
    .join(" ")
    .match(/--user-data-dir=(\S+)/)?.[1];
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    let line = "";
    try {
      line = readFileSync(`/proc/${name}/cmdline`, "utf8");
    } catch {
      continue; // it ended meanwhile
    }
    if (line.includes("--type=renderer") && line.includes(`--user-data-dir=${folder}`))
      process.kill(Number(name), "SIGKILL");
  }
}
