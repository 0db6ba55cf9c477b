// The browser of a node host of the published release 2026.2.9, where its command line is installed.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { after, before, describe, test } from "node:test";

import { nodeBrowserHome, noBrowser } from "../../harness/browser.ts";
import { operator } from "../../harness/gateway.ts";
import { connectedAs } from "../../harness/node-host.ts";
import { startWebGround, type WebAnswer, type WebGround } from "../../harness/web.ts";

const published = process.env["OC_BIN"] ?? "";
const noPublished =
  noBrowser || (existsSync(published) ? false : "needs the published command line in OC_BIN (2026.2.9)");

describe("browser of a published node host", { skip: noPublished }, () => {
  let ground: WebGround;
  let node: ChildProcess;
  let home: string;
  before(async () => {
    ground = await startWebGround({
      tools: { profile: "full" },
      config: { browser: { executablePath: "/nonexistent/browser" } },
    });
    ground.web.page("/", `<h1>Hello node</h1><button onclick="this.textContent='Done'">Go</button>`);
    home = await nodeBrowserHome();
    const args = ["node", "run", "--host", "127.0.0.1", "--port", String(ground.gateway.port), "--display-name", "old"];
    const path = `${dirname(process.execPath)}:${process.env["PATH"]}`;
    const env = { PATH: path, HOME: home, OPENCLAW_GATEWAY_TOKEN: ground.gateway.token };
    node = spawn(published, args, { env, stdio: "ignore", detached: true });
    const wire = await operator(ground.gateway);
    await connectedAs(wire, "old");
    wire.end();
  });
  after(async () => {
    if (node.exitCode === null && node.pid !== undefined) {
      process.kill(-node.pid, "SIGTERM");
      await once(node, "exit");
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    await ground.close();
  });

  test("opens, reads, clicks and takes a picture", async () => {
    const browser = (args: object): Promise<WebAnswer> => ground.call("browser", args);
    const started = await browser({ action: "start", options: { timeoutMs: 60_000 } });
    assert.ok(started.ok, JSON.stringify(started));
    const url = `http://127.0.0.1:${ground.web.port}/`;
    const opened = await browser({ action: "open", targetUrl: url });
    assert.ok(opened.ok, JSON.stringify(opened));
    const snapshot = await browser({ action: "snapshot", options: { interactive: true } });
    assert.ok(snapshot.ok, JSON.stringify(snapshot));
    const ref = /button "Go" \[ref=(e\d+)\]/.exec(snapshot.text)?.[1];
    assert.ok(ref !== undefined, snapshot.text);
    const clicked = await browser({ action: "act", request: { kind: "click", ref } });
    assert.ok(clicked.ok, JSON.stringify(clicked));
    assert.match((await browser({ action: "snapshot" })).text, /Done/);
    const picture = await browser({ action: "screenshot" });
    assert.ok(picture.ok, JSON.stringify(picture));
    assert.match(picture.text, new RegExp(`MEDIA:${ground.gateway.home}`));
    const wrong = await browser({ action: "act", request: { kind: "click", ref: "e999" } });
    assert.equal(wrong.error?.code, "browser.failed", JSON.stringify(wrong));
    assert.match(wrong.error?.message ?? "", /e999.*\(on node old/s);
    await browser({ action: "stop" });
  });
});
