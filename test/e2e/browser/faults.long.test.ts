// Browsers and pages that fail: every call ends with a clear error within its deadline, and the next one works.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { browsersIn, noBrowser, startBrowserGround, until, type BrowserGround } from "../../harness/browser.ts";
import type { WebAnswer } from "../../harness/web.ts";

const MB = 1024 * 1024;
/** A page that runs the script once the test releases it, and tells the server just before. */
const runsLater = (script: string): string => `<h1>Hang</h1><script>
  const ask = (path) => { const asked = new XMLHttpRequest(); asked.open("GET", path, false); asked.send(); };
  fetch("/release").then(() => { ask("/released"); ${script} });
</script>`;

describe("browser faults", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  const pid = (): number =>
    JSON.parse(readFileSync(join(ground.gateway.state, "browser", "openclaw", "process.json"), "utf8")).pid;
  /** The next call on a new page works. */
  const works = async (): Promise<void> => {
    const opened = await ground.open("/next", "<h1>Works again</h1>");
    assert.ok(opened.ok, JSON.stringify(opened));
    assert.match(await ground.snapshot(), /Works again/);
    assert.equal(browsersIn(ground.gateway.state).length, 1);
  };
  /** Opens a page whose script runs from now on. A script that ran earlier would be ended by the call that opens it. */
  const openRunning = async (path: string, script: string): Promise<WebAnswer> => {
    const release = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    ground.web.on("/release", (_request, response) => void release.promise.then(() => response.end()));
    ground.web.on("/released", (_request, response) => {
      response.end();
      released.resolve();
    });
    const opened = await ground.open(path, runsLater(script));
    release.resolve();
    await released.promise;
    return opened;
  };
  const memoryMb = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${ground.gateway.pid}/status`, "utf8"))?.[1]) / 1024;

  before(async () => {
    ground = await startBrowserGround();
    await works();
  });
  after(() => ground.close());

  /** Each waits for something that never comes, so that the browser is killed in the middle. */
  const endless: Record<string, () => Promise<WebAnswer>> = {
    open: () => ground.browser({ action: "open", targetUrl: ground.at("/never") }),
    navigate: () => ground.browser({ action: "navigate", targetUrl: ground.at("/never") }),
    "act wait": () => ground.browser({ action: "act", request: { kind: "wait", text: "never" } }),
    "act evaluate": () => ground.browser({ action: "act", request: { kind: "evaluate", fn: "new Promise(() => {})" } }),
    "act list": () =>
      ground.browser({
        action: "act",
        requests: [
          { kind: "press", key: "Tab" },
          { kind: "wait", text: "never" },
        ],
      }),
    snapshot: () => ground.browser({ action: "snapshot" }),
    screenshot: () => ground.browser({ action: "screenshot" }),
    pdf: () => ground.browser({ action: "pdf" }),
    console: () => ground.browser({ action: "console" }),
    tabs: () => ground.browser({ action: "tabs" }),
  };
  const calm = new Set(["open", "navigate", "act wait", "act evaluate", "act list"]);
  for (const [name, start] of Object.entries(endless))
    test(`${name} ends when the browser is killed in the middle of it, and the next call works`, async () => {
      ground.web.on("/never", () => {});
      if (calm.has(name)) await ground.open("/fault", "<button>Calm</button>");
      else await openRunning("/fault", "for (;;);");
      await killDuring(start());
      await works();
    });

  test("click ends when the browser is killed in the middle of it, and the next call works", async () => {
    await ground.open("/click", "<button onclick='for (;;);'>Hang</button>");
    const ref = /button "Hang" \[(\d+)\]/.exec(await ground.snapshot())?.[1];
    assert.ok(ref);
    await killDuring(ground.browser({ action: "act", request: { kind: "click", ref } }));
    await works();
  });

  async function killDuring(pending: Promise<WebAnswer>): Promise<void> {
    await Promise.race([pending, sleep(700)]);
    const killed = pid();
    process.kill(killed, "SIGKILL");
    const answer = await pending;
    await until(() => !browsersIn(ground.gateway.state).includes(killed), "the browser ended");
    if (!answer.ok) assert.equal(answer.error?.code, "browser.gone", JSON.stringify(answer));
  }

  test("a page that hangs fails the call at its deadline, and the same tab works afterwards", async () => {
    const opened = await openRunning("/hang", "for (;;);");
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
    killRenderers(pid());
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
    await openRunning("/endless", "for (;;) alert('again');");
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
