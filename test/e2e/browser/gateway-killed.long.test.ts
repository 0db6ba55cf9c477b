// A browser and its gateway: found again or ended after the gateway was killed, and never two on one data folder.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { browsersIn, noBrowser, startBrowserGround, until, type BrowserGround } from "../../harness/browser.ts";
import { invoke, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { holdPort } from "../../harness/restart.ts";

interface Answer {
  readonly ok: boolean;
  readonly result?: { readonly details: Record<string, unknown>; readonly content: { readonly text: string }[] };
  readonly error?: { readonly message: string; readonly details?: { readonly code?: string; readonly hint?: string } };
}

const call = async (gateway: TestGateway, args: object): Promise<Answer> =>
  (await invoke(gateway, "browser", args)).body as Answer;

describe("browser and the end of its gateway", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  let gateway: TestGateway;
  const record = (): { pid: number; proxyPort: number } =>
    JSON.parse(readFileSync(join(gateway.state, "browser", "openclaw", "process.json"), "utf8"));
  const env = () => ({ OPENCLAW_DNS_SERVER: ground.dns.address });
  /** Another gateway with the same state, after the last one ended. */
  const startAgain = async (): Promise<void> => {
    gateway = await startGateway({ home: gateway.home, env: env() });
  };

  before(async () => {
    ground = await startBrowserGround();
    gateway = ground.gateway;
    ground.web.page("/", "<title>Home</title><h1>Welcome</h1>");
  });
  after(async () => {
    await gateway.stop();
    await ground.close();
  });

  test("finds the browser and its tabs again after the gateway was killed", async () => {
    await call(gateway, { action: "open", targetUrl: ground.at("/") });
    const { pid } = record();
    await gateway.stop("SIGKILL");
    assert.deepEqual(browsersIn(gateway.state), [pid]);
    await startAgain();
    const tabs = await call(gateway, { action: "tabs" });
    assert.match(JSON.stringify(tabs.result?.details["tabs"]), /"Home"/);
    assert.equal(record().pid, pid);
    // Its proxy listens again on the port that the browser knows.
    const opened = await call(gateway, { action: "open", targetUrl: ground.at("/") });
    assert.ok(opened.ok, JSON.stringify(opened));
    assert.deepEqual(browsersIn(gateway.state), [pid]);
  });

  test("ends the browser of a killed gateway when the port of its proxy is taken", async () => {
    const { pid, proxyPort } = record();
    await gateway.stop("SIGKILL");
    const held = await holdPort(proxyPort);
    await startAgain();
    await until(() => !browsersIn(gateway.state).includes(pid), "the browser ended without a call");
    const opened = await call(gateway, { action: "open", targetUrl: ground.at("/") });
    assert.ok(opened.ok, JSON.stringify(opened));
    assert.notEqual(record().pid, pid);
    assert.equal(browsersIn(gateway.state).length, 1);
    await held.free();
  });

  test("ends a browser on its data folder that it has no record of", async () => {
    const { pid } = record();
    await gateway.stop("SIGKILL");
    writeFileSync(join(gateway.state, "browser", "openclaw", "process.json"), "{ damaged");
    await startAgain();
    const opened = await call(gateway, { action: "open", targetUrl: ground.at("/") });
    assert.ok(opened.ok, JSON.stringify(opened));
    assert.notEqual(record().pid, pid);
    assert.equal(browsersIn(gateway.state).length, 1);
  });

  test("a gateway that ends normally leaves no browser, record or lock behind", async () => {
    const folder = join(gateway.state, "browser", "openclaw");
    await gateway.stop();
    assert.deepEqual(browsersIn(gateway.state), []);
    assert.equal(existsSync(join(folder, "process.json")), false);
    await startAgain();
    assert.equal((await call(gateway, { action: "start" })).ok, true);
  });
});
