// The life of a managed browser: started once, stopped, killed, idle, disabled, absent.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";

import { browsersIn, noBrowser, startBrowserGround, until, type BrowserGround } from "../../harness/browser.ts";
import { invoke, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { findProgram } from "../../harness/program.ts";
import { configFile, holdPort } from "../../harness/restart.ts";

interface Answer {
  readonly ok: boolean;
  readonly result?: { readonly details: Record<string, unknown>; readonly content: { readonly text: string }[] };
  readonly error?: { readonly message: string; readonly details?: { readonly code?: string; readonly hint?: string } };
}

const call = async (gateway: TestGateway, args: object): Promise<Answer> =>
  (await invoke(gateway, "browser", args)).body as Answer;

const codeOf = ({ error }: Answer): string | undefined => error?.details?.code;

describe("browser lifecycle", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  let gateway: TestGateway;
  const record = (): { pid: number; proxyPort: number } =>
    JSON.parse(readFileSync(join(gateway.state, "browser", "openclaw", "process.json"), "utf8"));
  const env = () => ({ OPENCLAW_DNS_SERVER: ground.dns.address });
  /** Another gateway with the same state, after the last one ended. */
  const startAgain = async (): Promise<void> => {
    gateway = await startGateway({ home: gateway.home, env: env() });
  };
  const edit = (change: (config: { browser: Record<string, unknown> }) => void): void => {
    const config = JSON.parse(readFileSync(configFile(gateway), "utf8"));
    change(config);
    writeFileSync(configFile(gateway), JSON.stringify(config));
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

  test("status, profiles and tabs start no browser", async () => {
    const status = await call(gateway, { action: "status" });
    assert.equal(status.result?.details["running"], false);
    assert.equal(status.result?.details["pid"], null);
    assert.deepEqual((await call(gateway, { action: "tabs" })).result?.details["tabs"], []);
    assert.equal((await call(gateway, { action: "profiles" })).ok, true);
    assert.deepEqual(browsersIn(gateway.state), []);
  });

  test("start is idempotent, status names the process, stop leaves none behind", async () => {
    for (let round = 0; round < 2; round++) assert.equal((await call(gateway, { action: "start" })).ok, true);
    const [pid, ...others] = browsersIn(gateway.state);
    assert.deepEqual(others, []);
    const { details } = (await call(gateway, { action: "status" })).result ?? {};
    assert.deepEqual(
      [details?.["running"], details?.["cdpReady"], details?.["pid"], details?.["userDataDir"]],
      [true, true, pid, join(gateway.state, "browser", "openclaw", "user-data")],
    );
    assert.equal((await call(gateway, { action: "stop" })).result?.details["stopped"], true);
    assert.deepEqual(browsersIn(gateway.state), []);
    assert.equal((await call(gateway, { action: "stop" })).result?.details["stopped"], false);
  });

  test("ten calls at once start one browser", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(gateway, { action: "open", targetUrl: ground.at("/") })),
    );
    assert.deepEqual(
      answers.map(({ ok }) => ok),
      answers.map(() => true),
    );
    assert.equal(browsersIn(gateway.state).length, 1);
  });

  test("reports a browser that died since the last call, and the call after it works", async () => {
    await call(gateway, { action: "open", targetUrl: ground.at("/") });
    const { pid } = record();
    process.kill(pid, "SIGKILL");
    await until(
      async () => (await call(gateway, { action: "status" })).result?.details["running"] === false,
      "the gateway noticed the end",
    );
    const lost = await call(gateway, { action: "snapshot" });
    assert.equal(codeOf(lost), "browser.gone", JSON.stringify(lost));
    assert.match(lost.error?.message ?? "", /ended unexpectedly/);
    assert.equal((await call(gateway, { action: "open", targetUrl: ground.at("/") })).ok, true);
    assert.match((await call(gateway, { action: "snapshot" })).result?.content[0]?.text ?? "", /Welcome/);
    assert.equal(browsersIn(gateway.state).length, 1);
  });

  test("reset-profile ends the browser and says how many there were", async () => {
    assert.equal((await call(gateway, { action: "reset-profile" })).result?.details["killed"], 1);
    assert.deepEqual(browsersIn(gateway.state), []);
    assert.equal((await call(gateway, { action: "reset-profile" })).result?.details["killed"], 0);
  });

  test("refuses to start while another program uses the debugging port, and names the port", async () => {
    const held = await holdPort(ground.cdpPort);
    const refused = await call(gateway, { action: "start" });
    assert.equal(codeOf(refused), "browser.port-in-use");
    assert.match(refused.error?.message ?? "", new RegExp(String(ground.cdpPort)));
    assert.deepEqual(browsersIn(gateway.state), []);
    await held.free();
    assert.equal((await call(gateway, { action: "start" })).ok, true);
  });

  test("closes a browser that is idle for browser.idleMinutes", async () => {
    await gateway.stop();
    edit(({ browser }) => (browser["idleMinutes"] = 0.02));
    await startAgain();
    assert.equal((await call(gateway, { action: "open", targetUrl: ground.at("/") })).ok, true);
    await until(() => browsersIn(gateway.state).length === 0, "the idle browser is closed");
    assert.equal((await call(gateway, { action: "open", targetUrl: ground.at("/") })).ok, true);
  });

  test("closes the browser when the config disables it, and says how to enable it", async () => {
    edit(({ browser }) => Object.assign(browser, { enabled: false, idleMinutes: 30 }));
    await until(() => browsersIn(gateway.state).length === 0, "the disabled browser is closed");
    const refused = await call(gateway, { action: "status" });
    assert.equal(refused.ok, false);
    assert.match(JSON.stringify(refused), /config set browser.enabled true/);
    edit(({ browser }) => (browser["enabled"] = true));
    await until(async () => (await call(gateway, { action: "status" })).ok, "the browser is enabled");
  });

  test("attachOnly starts nothing and uses a browser that the owner started", async () => {
    edit(({ browser }) => (browser["attachOnly"] = true));
    await until(
      async () => (await call(gateway, { action: "status" })).result?.details["attachOnly"] === true,
      "reload",
    );
    const refused = await call(gateway, { action: "start" });
    assert.equal(codeOf(refused), "browser.attach-only");
    assert.match(refused.error?.message ?? "", /Browser attachOnly is enabled .* not reachable/);
    const folder = join(gateway.home, "owners-browser");
    const owners = await chromium.launchPersistentContext(folder, {
      executablePath: findProgram("chromium") ?? "chromium",
      args: ["--no-sandbox", `--remote-debugging-port=${ground.cdpPort}`],
    });
    await until(async () => (await call(gateway, { action: "status" })).result?.details["running"] === true, "it runs");
    assert.equal((await call(gateway, { action: "open", targetUrl: "about:blank" })).ok, true);
    assert.equal(owners.pages().length, 2);
    await call(gateway, { action: "stop" });
    assert.equal(owners.pages().length, 2, "the owner's browser is left as it is");
    await owners.close();
    edit(({ browser }) => (browser["attachOnly"] = false));
    await until(
      async () => (await call(gateway, { action: "status" })).result?.details["attachOnly"] === false,
      "reload",
    );
  });

  test("says which command installs a browser when there is none", async () => {
    edit(({ browser }) => delete browser["executablePath"]);
    await gateway.stop();
    const empty = await startGateway({ home: gateway.home, env: { ...env(), PATH: "/nowhere" } });
    gateway = empty;
    const status = await call(gateway, { action: "status" });
    assert.equal(status.result?.details["detectedBrowser"], null);
    const refused = await call(gateway, { action: "start" });
    assert.equal(codeOf(refused), "browser.no-program");
    assert.match(refused.error?.details?.hint ?? "", /apt-get install chromium|brew install|winget install/);
    edit(({ browser }) => (browser["executablePath"] = "/nowhere/chrome"));
    await until(
      async () => /not found/.test(String((await call(gateway, { action: "status" })).result?.details["detectError"])),
      "reload",
    );
    const missing = await call(gateway, { action: "start" });
    assert.match(missing.error?.message ?? "", /browser.executablePath not found: \/nowhere\/chrome/);
  });
});
