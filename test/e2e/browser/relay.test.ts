// The user's own Chrome: the extension in real Chromium, tabs attached by a click, everything else refused.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium, type BrowserContext, type Page, type Worker } from "playwright-core";
import { WebSocket } from "ws";

import { extensionPath, installExtension } from "../../../src/browser/extension-files.ts";
import { startFakeWeb } from "../../fakes/web.ts";
import { noBrowser, startBrowserGround, type BrowserGround } from "../../harness/browser.ts";
import { invoke, startGateway } from "../../harness/gateway.ts";
import { findProgram } from "../../harness/program.ts";

const profile = "chrome";

describe("extension relay", { skip: noBrowser }, () => {
  let ground: BrowserGround;
  let relayPort: number;
  let chrome: BrowserContext;
  let worker: Worker;
  let folder: string;
  let token: string;

  before(async () => {
    ground = await startBrowserGround();
    relayPort = ground.gateway.port + 3;
    installExtension(ground.gateway.state, relayPort);
    const path = extensionPath(ground.gateway.state);
    token = JSON.parse(readFileSync(join(path, "relay.json"), "utf8")).token;
    folder = mkdtempSync(join(tmpdir(), "user-chrome-"));
    chrome = await chromium.launchPersistentContext(folder, {
      executablePath: findProgram("chromium") ?? "chromium",
      headless: false,
      args: [
        "--headless=new",
        "--no-sandbox",
        "--disable-features=DisableLoadExtensionCommandLineSwitch",
        `--disable-extensions-except=${path}`,
        `--load-extension=${path}`,
        "--host-resolver-rules=MAP pages.test 127.0.0.1",
      ],
      timeout: 60_000,
    });
    worker = chrome.serviceWorkers()[0] ?? (await chrome.waitForEvent("serviceworker", { timeout: 30_000 }));
  });
  after(async () => {
    await chrome?.close();
    await ground?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A tab of the user, opened without the agent. */
  async function userTab(path: string, html: string): Promise<Page> {
    ground.web.page(path, html);
    const page = await chrome.newPage();
    await page.goto(ground.at(path));
    return page;
  }

  /** The handler of the toolbar icon, called for the tab with this URL. */
  async function click(page: Page): Promise<void> {
    await worker.evaluate(async (url) => {
      const scope = globalThis as unknown as ExtensionScope;
      const [tab] = await scope.chrome.tabs.query({ url });
      await scope.toggleTab(tab);
    }, page.url());
  }

  const badge = (page: Page): Promise<string> =>
    worker.evaluate(async (url) => {
      const { chrome: api } = globalThis as unknown as ExtensionScope;
      const [tab] = await api.tabs.query({ url });
      return api.action.getBadgeText({ tabId: tab?.id });
    }, page.url());

  const act = (args: object) => ground.browser({ profile, ...args });
  const tabUrls = async (): Promise<string[]> => {
    const { text } = await act({ action: "tabs" });
    return [...text.matchAll(/http:\/\/pages\.test:\d+(\/[a-z-]*)/g)].map(([, path = ""]) => path);
  };

  test("says that no tab is connected and offers another profile", async () => {
    const answer = await act({ action: "snapshot" });
    assert.equal(answer.ok, false);
    assert.equal(answer.error?.code, "browser.relay-no-tab");
    assert.match(answer.error?.message ?? "", /Chrome extension relay is running, but no tab is connected/);
    assert.match(answer.error?.hint ?? "", /toolbar icon/);
    assert.match(answer.error?.hint ?? "", /openclaw/);
  });

  test("shows ! on the badge when the relay refuses the extension", async () => {
    const page = await userTab("/refused", "<h1>Refused</h1>");
    await worker.evaluate(() => (globalThis as unknown as ExtensionScope).chrome.storage.local.set({ token: "wrong" }));
    await click(page);
    assert.equal(await badge(page), "!");
    await worker.evaluate(() => (globalThis as unknown as ExtensionScope).chrome.storage.local.remove("token"));
    await page.close();
  });

  test("BRW-105 drives a tab after the click: reads, clicks, navigates, and reaches no other tab", async () => {
    const shared = await userTab("/shared", `<h1>Shared</h1><button onclick="this.textContent='Done'">Go</button>`);
    const secret = await userTab("/secret", "<h1>Bank account</h1>");
    await click(shared);
    assert.equal(await badge(shared), "ON");
    assert.equal(await badge(secret), "");

    const seen = await act({ action: "snapshot" });
    assert.ok(seen.ok, JSON.stringify(seen));
    const ref = /button \\?"Go\\?" \[(?:ref=)?e?(\d+)\]/.exec(seen.text)?.[1];
    assert.ok(ref, seen.text);
    const clicked = await act({ action: "act", request: { kind: "click", ref } });
    assert.ok(clicked.ok, JSON.stringify(clicked));
    assert.equal(await shared.locator("button").textContent(), "Done");

    assert.deepEqual(await tabUrls(), ["/shared"]);
    const secretId = await worker.evaluate(async () => {
      const targets = await (globalThis as unknown as ExtensionScope).chrome.debugger.getTargets();
      return targets.find(({ url }) => url.endsWith("/secret"))?.id;
    });
    const other = await act({ action: "snapshot", targetId: secretId });
    assert.doesNotMatch(JSON.stringify(other), /Bank account/);

    ground.web.page("/next", "<title>Next</title><h1>Next page</h1>");
    const moved = await act({ action: "navigate", targetUrl: ground.at("/next") });
    assert.ok(moved.ok, JSON.stringify(moved));
    assert.equal(shared.url(), ground.at("/next"));
    assert.match((await act({ action: "snapshot" })).text, /Next page/);
    assert.deepEqual(await tabUrls(), ["/next"]);
    assert.equal(await badge(shared), "ON");

    await click(shared);
    assert.equal(await badge(shared), "");
    assert.equal((await act({ action: "snapshot" })).error?.code, "browser.relay-no-tab");
    await Promise.all([shared.close(), secret.close()]);
  });

  test("holds several attached tabs and loses a tab that the user closes", async () => {
    const [one, two] = [await userTab("/one", "<h1>One</h1>"), await userTab("/two", "<h1>Two</h1>")];
    await click(one);
    await click(two);
    for (let tries = 0; tries < 50 && (await tabUrls()).length < 2; tries++) await sleep(50);
    assert.deepEqual((await tabUrls()).toSorted(), ["/one", "/two"]);
    const wrong = await act({ action: "snapshot", targetId: "0123456789ABCDEF0123456789ABCDEF" });
    assert.equal(wrong.error?.code, "browser.tab-not-found", JSON.stringify(wrong));
    await two.close();
    for (let tries = 0; tries < 50 && (await tabUrls()).length > 1; tries++) await sleep(50);
    assert.deepEqual(await tabUrls(), ["/one"]);
    const stale = await act({ action: "snapshot", targetId: "0123456789ABCDEF0123456789ABCDEF" });
    assert.match(stale.text, /One/, "with one attached tab an old id means that tab");
    await one.close();
  });

  test("BRW-106 stops an attached tab on its way to a private address", async () => {
    const { web } = ground;
    const inside = await startFakeWeb();
    inside.page("/", "<h1>Router</h1>");
    web.on("/away", (_request, response) => response.writeHead(302, { location: inside.url }).end());
    const page = await userTab("/start", `<h1>Start</h1><a href="${inside.url}">Go</a>`);
    await click(page);
    for (const targetUrl of [inside.url, ground.at("/away")])
      assert.equal((await act({ action: "navigate", targetUrl })).error?.code, "browser.blocked", targetUrl);
    await act({ action: "navigate", targetUrl: ground.at("/start") });
    const fn = `() => Promise.all([fetch("${inside.url}", { mode: "no-cors" }), new Promise((done) => { const image = new Image(); image.onerror = done; image.src = "${inside.url}/x.png" })]).then(() => 0, () => 1)`;
    await act({ action: "act", request: { kind: "evaluate", fn } });
    const ref = /link \\?"Go\\?" \[(\d+)\]/.exec((await act({ action: "snapshot" })).text)?.[1];
    assert.ok(ref);
    const clicked = await act({ action: "act", request: { kind: "click", ref } });
    assert.doesNotMatch(JSON.stringify(clicked), /Router/);
    assert.deepEqual(inside.requests, []);
    // The user goes on with the tab after it is detached.
    await page.goto(ground.at("/start"));
    await click(page);
    await page.goto(inside.url);
    assert.equal(await page.locator("h1").textContent(), "Router");
    await page.close();
    await inside.close();
  });

  test("BRW-104 refuses a web page that dials the relay", async () => {
    const page = await userTab("/evil", "<h1>Evil</h1>");
    const outcome = await page.evaluate(
      async ({ port, key }) => {
        const dial = (path: string, protocols: string[]): Promise<string> =>
          new Promise((resolve) => {
            const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols);
            socket.onopen = () => resolve("open");
            socket.onerror = () => resolve("refused");
          });
        const read = (path: string): Promise<string> =>
          fetch(`http://127.0.0.1:${port}${path}`).then(
            (response) => response.text(),
            () => "refused",
          );
        return [
          await dial("/extension", ["openclaw-relay", `token.${key}`]),
          await dial("/cdp", []),
          await read("/json/list"),
          await read("/json/version"),
        ];
      },
      { port: relayPort, key: token },
    );
    assert.deepEqual(outcome, ["refused", "refused", "refused", "refused"]);
    await page.close();
  });

  test("refuses programs without the token, foreign origins and foreign Host names", async () => {
    const origin = `chrome-extension://${"a".repeat(32)}`;
    assert.equal(await dial(relayPort, "/cdp", {}), 401);
    assert.equal(await dial(relayPort, "/cdp", { origin: "https://evil.test" }), 403);
    assert.equal(await dial(relayPort, "/extension", {}, ["openclaw-relay", `token.${token}`]), 403);
    assert.equal(await dial(relayPort, "/extension", { origin: "https://evil.test" }), 403);
    assert.equal(await dial(relayPort, "/extension", { origin }, ["openclaw-relay", "token.wrong"]), 401);
    assert.equal(await status(relayPort, "/json/list", {}), 401);
    assert.equal(await status(relayPort, "/json/version", { host: "evil.test" }), 403);
    assert.equal(await status(relayPort, "/", { origin: "https://evil.test" }), 403);
    assert.equal(await status(relayPort, "/", {}), 200);
  });

  test("keeps a tab attached over a restart of the gateway, and does not hold up the user meanwhile", async () => {
    const page = await userTab("/kept", "<h1>Kept</h1>");
    await click(page);
    assert.ok((await act({ action: "snapshot" })).ok);
    await ground.gateway.stop("SIGKILL");
    await untilBadge(page, /^[…!]$/);
    await page.reload();
    assert.equal(await page.locator("h1").textContent(), "Kept");
    const { home } = ground.gateway;
    const gateway = await startGateway({ home, env: { OPENCLAW_DNS_SERVER: ground.dns.address } });
    await untilBadge(page, /^ON$/);
    const { body } = await invoke(gateway, "browser", { action: "snapshot", profile });
    assert.match(JSON.stringify(body), /Kept/);
    await page.close();
    await gateway.stop();
  });

  async function untilBadge(page: Page, wanted: RegExp): Promise<void> {
    for (let tries = 0; tries < 300 && !wanted.test(await badge(page)); tries++) await sleep(50);
    assert.match(await badge(page), wanted);
  }
});

interface ExtensionScope {
  toggleTab(tab: unknown): Promise<void>;
  readonly chrome: {
    readonly tabs: { query(filter: { url: string }): Promise<{ id: number }[]> };
    readonly action: { getBadgeText(filter: { tabId: number | undefined }): Promise<string> };
    readonly debugger: { getTargets(): Promise<{ id: string; url: string }[]> };
    readonly storage: { readonly local: { set(values: object): Promise<void>; remove(key: string): Promise<void> } };
  };
}

/** The HTTP status with which the upgrade was refused; 101 when it was accepted. */
function dial(
  port: number,
  path: string,
  headers: Record<string, string>,
  protocols: string[] = [],
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers });
    socket.on("open", () => resolve(101));
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode));
    socket.on("error", (error) =>
      resolve(/(\d{3})$/.test(error.message) ? Number(error.message.slice(-3)) : undefined),
    );
  });
}

function status(port: number, path: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest({ port, host: "127.0.0.1", path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}
