// Pairing, Overview and Tools, with a real gateway and a real browser.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import type { Browser, Page } from "playwright-core";

import { dispose, root, startGateway, type TestGateway } from "../../harness/gateway.ts";
import {
  ensurePage,
  launchBrowser,
  newCode,
  noBrowser,
  openLinked,
  openPage,
  phone,
  type ContextOptions,
  type Opened,
} from "../../harness/page.ts";

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

describe("pairing, Overview and Tools", { skip: noBrowser }, () => {
  let gateway: TestGateway;
  let browser: Browser;
  let shots: string;

  before(async () => {
    await ensurePage();
    shots = mkdtempSync(join(tmpdir(), "openclaw-page-"));
    gateway = await startGateway({
      config: {
        tools: { deny: ["edit"] },
        agents: { list: [{ id: "main" }, { id: "guest", tools: { profile: "minimal" } }] },
      },
    });
    browser = await launchBrowser();
  });

  after(async () => {
    await browser.close();
    await dispose(gateway);
  });

  test("a link pairs the browser once and is removed from the address bar", async () => {
    const code = await newCode(gateway);
    const { page, pageErrors, context } = await openPage(browser, `${gateway.url}/#pair=${code}`);
    await page.getByLabel("Message", { exact: true }).waitFor();
    assert.equal(page.url(), `${gateway.url}/`);
    const kept = await storageOf(page);
    assert.match(kept, /"openclaw\.control\.device\.v1"/);
    assert.ok(!kept.includes(code) && !kept.includes(gateway.token), "neither the code nor the gateway token is kept");
    await page.reload();
    await page.getByLabel("Message", { exact: true }).waitFor();
    assert.deepEqual(pageErrors, []);
    await context.close();

    const other = await openPage(browser, `${gateway.url}/#pair=${code}`);
    await other.page.getByText("This link was already used or has expired.").waitFor();
    await other.context.close();
  });

  test("accepts a typed gateway token and ignores a token in the address", async () => {
    const { page, context } = await openPage(browser, `${gateway.url}/?token=${gateway.token}`);
    await page.getByText("openclaw dashboard").waitFor();
    assert.equal(page.url(), `${gateway.url}/`);
    await page.getByText("The link contained a token or a gateway address.").waitFor();
    await page.screenshot({ path: join(shots, "desktop-door.png") });
    await page.getByLabel("Gateway token").fill("wrong");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("The gateway rejected this token.").waitFor();
    await page.getByLabel("Gateway token").fill(gateway.token);
    await page.keyboard.press("Enter");
    await page.getByLabel("Message", { exact: true }).waitFor();
    assert.ok(!(await storageOf(page)).includes(gateway.token));
    await context.close();
  });

  test("Overview shows health, gateway, devices and connected clients", async () => {
    const { page, pageErrors, context } = await openPaired(browser, gateway);
    const health = page.getByRole("region", { name: /^Health/ });
    await health.getByText("Healthy", { exact: true }).waitFor();
    await health.getByText("main, guest").waitFor();
    const version = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
    await page.getByRole("region", { name: "Gateway" }).getByText(version).waitFor();
    await page.getByRole("heading", { name: "Devices" }).waitFor();
    await page.locator("device-list").getByText("this browser").waitFor();
    assert.deepEqual(pageErrors, []);
    await page.screenshot({ path: join(shots, "desktop-overview.png"), fullPage: true });
    await context.close();
  });

  test("Overview warns when the sandbox is off, with the command that turns it on", async () => {
    const { page, pageErrors, context } = await openPaired(browser, gateway);
    const note = page.getByRole("note", { name: "Caution" });
    await note
      .getByText(
        "The sandbox is off for agent main: its tools act directly on the gateway host, and its commands run there without approval.",
      )
      .waitFor();
    await note.getByText("openclaw config set agents.defaults.sandbox.mode all", { exact: true }).waitFor();
    await page.screenshot({ path: join(shots, "desktop-sandbox-off.png") });
    await page.setViewportSize(phone);
    await page.screenshot({ path: join(shots, "phone-sandbox-off.png") });
    assert.equal(
      await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
      true,
    );
    await page.goto(`${gateway.url}/#/tools/exec`);
    await page.getByText("Runs on the gateway host itself, without approvals, because the sandbox is off").waitFor();
    await context.close();

    const sandboxed = await startGateway({ config: { agents: { defaults: { sandbox: { mode: "non-main" } } } } });
    const other = await openPaired(browser, sandboxed);
    await other.page.getByText("on for every session but the main one").waitFor();
    assert.equal(await other.page.getByText("The sandbox is off").count(), 0);
    assert.deepEqual([...pageErrors, ...other.pageErrors], []);
    await other.context.close();
    await dispose(sandboxed);
  });

  test("every tool shows its status, a blocked one also its rule and the command that changes it", async () => {
    const { page, pageErrors, context } = await openPaired(browser, gateway);
    await page.getByRole("navigation").getByRole("link", { name: "Tools" }).click();
    await heading(page, "Tools");
    for (const group of ["group:fs", "group:sessions"]) await page.getByRole("heading", { name: group }).waitFor();
    await page.getByRole("link", { name: /^read allowed/ }).waitFor();
    await page.getByRole("link", { name: /^edit blocked/ }).click();
    const detail = page.getByRole("region", { name: "Opened tool" });
    await detail.getByText("decided by this rule").waitFor();
    await detail
      .getByText(/tools\.deny\[0\]/)
      .first()
      .waitFor();
    await detail.getByText(/^openclaw config /).waitFor();
    await page.screenshot({ path: join(shots, "desktop-blocked.png") });

    await page.getByRole("button", { name: /^blocked/ }).click();
    assert.equal(await page.getByRole("link", { name: /^read / }).count(), 0);
    await page.getByRole("button", { name: /^all \d/ }).click();
    await page.getByLabel("Filter tools").fill("no such tool");
    await page.getByText("No tool matches this filter.").waitFor();
    await page.getByLabel("Filter tools").fill("");

    await page.getByLabel("Agent").selectOption("guest");
    await page.getByRole("link", { name: /^read blocked/ }).waitFor();
    await page.getByRole("link", { name: /^session_status allowed/ }).waitFor();
    assert.deepEqual(pageErrors, []);
    await context.close();
  });

  test("runs write and read from their forms and shows results as text, never as markup", async () => {
    const { page, pageErrors, context } = await openPaired(browser, gateway);
    const content = "first line\n<img src=x onerror=\"document.title='owned'\">\nGrüße 🦀\n";
    await page.goto(`${gateway.url}/#/tools/write`);
    await page.getByLabel(/^path/).fill("page/note.txt");
    await page.getByLabel(/^content/).fill(content);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("heading", { name: /^Result/ }).waitFor();
    assert.equal(readFileSync(join(gateway.workspace, "page", "note.txt"), "utf8"), content);

    await page.goto(`${gateway.url}/#/tools/read`);
    await page.getByLabel(/^path/).fill("page/note.txt");
    await page.getByRole("button", { name: "Run" }).click();
    const shown = page.getByLabel("Result text");
    await shown.waitFor();
    const text = await shown.innerText();
    for (const line of content.trim().split("\n")) assert.ok(text.includes(line), text);
    assert.equal(await page.title(), "Tools · OpenClaw");

    writeFileSync(join(gateway.workspace, "page", "dot.png"), Buffer.from(dot, "base64"));
    await page.getByLabel(/^path/).fill("page/dot.png");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("img", { name: "Result image" }).waitFor();
    assert.equal(await page.evaluate("document.querySelector('img.picture').naturalWidth"), 1);
    await page.screenshot({ path: join(shots, "desktop-read.png") });
    assert.deepEqual(pageErrors, []);
    await context.close();
  });

  test("the form reports invalid values without sending them, and converts between fields and JSON", async () => {
    const { page, context } = await openPaired(browser, gateway);
    await page.goto(`${gateway.url}/#/tools/read`);
    await page.getByLabel(/^path/).fill("page/note.txt");
    await page.getByLabel(/^limit/).fill("many");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("alert").getByText("Must be a number.").waitFor();
    assert.equal(await page.getByRole("heading", { name: /^Result|^Failed/ }).count(), 0);
    await page.getByLabel("Edit as JSON").check();
    await page.getByLabel("Arguments as JSON").fill('{"path": "page/other.txt", "limit": 2}');
    await page.getByLabel("Edit as JSON").uncheck();
    assert.equal(await page.getByLabel(/^path/).inputValue(), "page/other.txt");
    assert.equal(await page.getByLabel(/^limit/).inputValue(), "2");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("heading", { name: /^Failed/ }).waitFor();
    await context.close();
  });

  test("a blocked call shows its reason and fix, and is in the journal", async () => {
    const { page, pageErrors, context } = await openPaired(browser, gateway);
    const { workspace } = gateway;
    mkdirSync(join(workspace, "page"), { recursive: true });
    writeFileSync(join(workspace, "page", "kept.txt"), "old");
    await page.goto(`${gateway.url}/#/tools/edit`);
    await page.getByText("The gateway will block this call.").waitFor();
    await page.getByLabel("Edit as JSON").check();
    await page.getByLabel("Arguments as JSON").fill('{"path": "page/kept.txt", "oldText": "old", "newText": "new"}');
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("heading", { name: /^Failed/ }).waitFor();
    const refusal = page.locator(".outcome").getByRole("alert");
    await refusal.getByText(/^edit: .*tools\.deny/).waitFor();
    await refusal.getByText(/^openclaw config /).waitFor();
    await refusal.getByText("As text, with file and line").click();
    await refusal.getByText(/Layers, in order:/).waitFor();
    await page.screenshot({ path: join(shots, "desktop-refusal.png") });
    assert.equal(readFileSync(join(workspace, "page", "kept.txt"), "utf8"), "old");

    await page.getByRole("link", { name: "Overview" }).click();
    const journal = page.locator("journal-list");
    await journal.getByText("blocked").first().waitFor();
    await journal.getByRole("link", { name: "write" }).first().waitFor();
    assert.deepEqual(pageErrors, []);
    await context.close();
  });

  test("a browser on another machine connects automatically once it is approved", async () => {
    const far = await openFarAway(gateway.port);
    const waiting = await openPage(browser, `http://127.0.0.1:${(far.address() as AddressInfo).port}/`);
    await waiting.page.getByLabel("Gateway token").fill(gateway.token);
    await waiting.page.getByRole("button", { name: "Connect" }).click();
    await heading(waiting.page, "Waiting for approval");
    await waiting.page.getByText(/^openclaw devices approve \S+$/).waitFor();
    const owner = await openPaired(browser, gateway);
    await owner.page.getByRole("button", { name: "Approve" }).click();
    await owner.page.getByText("No pairing requests.").waitFor();
    await waiting.page.getByLabel("Message", { exact: true }).waitFor();
    await Promise.all([waiting.context.close(), owner.context.close()]);
    far.close();
  });

  test("on a phone the menu reaches every view and nothing is cut off", async () => {
    const { page, pageErrors, context } = await openPaired(browser, gateway, { viewport: phone, colorScheme: "dark" });
    await page.screenshot({ path: join(shots, "phone-overview.png"), fullPage: true });
    await page.getByRole("button", { name: "Menu" }).click();
    await page.screenshot({ path: join(shots, "phone-menu.png") });
    await page.getByRole("navigation").getByRole("link", { name: "Tools" }).click();
    await page.getByRole("link", { name: /^edit blocked/ }).click();
    await page.getByText("decided by this rule").waitFor();
    await page.screenshot({ path: join(shots, "phone-blocked.png"), fullPage: true });
    assert.equal(
      await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
      true,
    );
    await page.getByRole("link", { name: "← All tools" }).click();
    await page.getByRole("link", { name: /^read allowed/ }).waitFor();
    await page.screenshot({ path: join(shots, "phone-tools.png") });
    assert.deepEqual(pageErrors, []);
    await context.close();
  });

  test("a tool can be opened and run by keyboard", async (t) => {
    t.diagnostic(`screenshots: ${shots}`);
    const { page, context } = await openPaired(browser, gateway);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate("document.activeElement.id"), "main");
    await page.goto(`${gateway.url}/#/tools`);
    await page.getByLabel("Filter tools").focus();
    await page.keyboard.type("session_status");
    const row = page.getByRole("link", { name: /^session_status/ });
    await row.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Run" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /^Result/ }).waitFor();
    await context.close();
  });
});

async function openPaired(browser: Browser, gateway: TestGateway, options?: ContextOptions): Promise<Opened> {
  const opened = await openLinked(browser, gateway, options);
  await opened.page.goto(`${gateway.url}/#/overview`);
  await heading(opened.page, "Overview");
  return opened;
}

function heading(page: Page, name: string): Promise<void> {
  return page.getByRole("heading", { name, level: 1 }).waitFor();
}

async function storageOf(page: Page): Promise<string> {
  return (await page.evaluate("JSON.stringify(Object.fromEntries(Object.entries(localStorage)))")) as string;
}

/** A reverse proxy that marks every request as coming from another machine. */
function openFarAway(port: number): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.once("data", (first) => {
      far.write(first.toString("latin1").replace("\r\n", "\r\nX-Forwarded-For: 203.0.113.7\r\n"), "latin1");
      near.pipe(far).pipe(near);
    });
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
