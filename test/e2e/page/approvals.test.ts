// The approval card of the page, with a real gateway and a real browser.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";

import type { Browser, Locator, Page } from "playwright-core";

import { call, exec, until } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type Frame, type TestGateway, type Wire } from "../../harness/gateway.ts";
import {
  desktop,
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

const request = {
  command: "tar czf /tmp/backup.tgz --exclude=node_modules \u202e./src && echo '<img src=x onerror=alert(1)>' **done**",
  cwd: "/home/ada/projects/garden",
  host: "gateway",
  security: "allowlist",
  ask: "on-miss",
  agentId: "main",
  resolvedPath: "/usr/bin/tar",
  sessionKey: "agent:main:main",
};

const decisionOf = ({ payload }: Frame): unknown => (payload as { decision: unknown }).decision;

describe("the approval card", { skip: noBrowser }, () => {
  let gateway: TestGateway;
  let browser: Browser;
  let wire: Wire;
  let opened: Opened[] = [];
  let shots: string;
  let number = 0;

  before(async () => {
    await ensurePage();
    shots = process.env["OPENCLAW_TEST_SHOTS"] ?? mkdtempSync(join(tmpdir(), "openclaw-approvals-page-"));
    gateway = await startGateway({ config: { tools: { exec: { host: "gateway", ask: "on-miss" } } } });
    mkdirSync(gateway.workspace, { recursive: true });
    browser = await launchBrowser();
  });
  beforeEach(async () => {
    wire = await operator(gateway);
  });
  afterEach(async () => {
    const payload = await wire.call("exec.approvals.pending", {});
    for (const { id } of payload.pending) await wire.request("exec.approval.resolve", { id, decision: "deny" });
    wire.end();
    await Promise.all(opened.map(({ context }) => context.close()));
    opened = [];
  });
  after(async () => {
    await browser.close();
    await dispose(gateway);
  });

  const open = async (options?: ContextOptions): Promise<Page> => {
    const linked = await openLinked(browser, gateway, options);
    opened.push(linked);
    return linked.page;
  };
  const ask = (more: object = {}): { id: string; answer: Promise<Frame> } => {
    number += 1;
    const id = `page-${String(number).padStart(3, "0")}-id`;
    return { id, answer: wire.request("exec.approval.request", { ...request, id, ...more }) };
  };
  const cardOf = (page: Page): Locator => page.getByRole("region", { name: "Approvals" });

  test("appears above every view, shows the whole request and sends the answer", async () => {
    const page = await open();
    await page.goto(`${gateway.url}/#/tools`);
    await page.getByRole("heading", { name: "Tools", level: 1 }).waitFor();
    const { answer } = ask();
    const card = cardOf(page);
    await card.getByRole("heading", { name: "Your approval is needed" }).waitFor();
    assert.equal(
      await card.getByLabel("Requested action").textContent(),
      "tar czf /tmp/backup.tgz --exclude=node_modules \\u{202e}./src && echo '<img src=x onerror=alert(1)>' **done**",
    );
    const rows = await card.locator("dl").innerText();
    for (const fact of ["/usr/bin/tar", "/home/ada/projects/garden", "gateway", "main", "agent:main:main", "on-miss"])
      assert.ok(rows.includes(fact), fact);
    assert.match((await card.getByLabel("Time left").textContent()) ?? "", /Expires in (?:1 min \d+ s|2 min|\d+ s)/);
    assert.match(await page.title(), /^\(1\) /);
    assert.equal(
      await card.getByRole("button", { name: "Always allow" }).count(),
      0,
      "there is nothing it could cover",
    );
    await page.screenshot({ path: join(shots, "desktop-approval.png") });
    await card.getByRole("button", { name: "Allow once" }).click();
    assert.equal(decisionOf(await answer), "allow-once");
    await card.waitFor({ state: "detached" });
    assert.doesNotMatch(await page.title(), /^\(/);
    assert.deepEqual(opened[0]?.pageErrors, []);
  });

  test("shows each program of a command and what “Always allow” covers", async () => {
    const page = await open({ viewport: phone, hasTouch: true, isMobile: true });
    const asked = await exec(gateway, { command: "FLAVOUR=mild cat /etc/hostname | tee marked", env: { LANG: "C" } });
    assert.equal(asked.details["status"], "approval-pending", asked.text);
    const card = cardOf(page);
    await card.getByRole("button", { name: "Always allow" }).and(page.locator(":enabled")).waitFor();
    const rows = await card.locator("dl").innerText();
    for (const fact of ["/usr/bin/cat", "/usr/bin/tee", gateway.workspace, "LANG=C", "gateway", "main"])
      assert.ok(rows.includes(fact), `${fact} in\n${rows}`);
    await card.getByText(/covers exactly/).waitFor();
    await page.screenshot({ path: join(shots, "phone-approval-command.png") });
    await page.setViewportSize(desktop);
    await page.screenshot({ path: join(shots, "desktop-approval-command.png") });
    await card.getByRole("button", { name: "Always allow" }).click();
    await until(() => existsSync(join(gateway.workspace, "marked")), Boolean);
    assert.deepEqual(opened[0]?.pageErrors, []);
  });

  test("shows the diff of a config change and does not offer “Always allow”", async () => {
    const page = await open({ viewport: desktop });
    const asked = await call(gateway, "gateway", {
      action: "config.patch",
      raw: "{tools:{exec:{ask:'off',security:'full'},deny:null},gateway:{auth:{token:'a-new-secret-0123456789'}}}",
      note: "so that I need not ask any more",
    });
    assert.equal(asked.details["status"], "approval-pending", asked.text);
    const card = cardOf(page);
    await card.getByText("Change the config").waitFor();
    const text = (await card.getByLabel("Requested action").textContent()) ?? "";
    assert.match(text, /^--- a\/openclaw\.json\n\+\+\+ b\/openclaw\.json\n@@/);
    assert.match(text, /\n-.*"ask": "on-miss"[\s\S]*\n\+.*"ask": "off"/);
    assert.doesNotMatch(text, /a-new-secret|test-token/);
    assert.match((await card.locator(".added").allTextContents()).join("\n"), /^\+.*"ask": "off"/m);
    assert.match((await card.locator(".removed").allTextContents()).join("\n"), /^-.*"ask": "on-miss"/m);
    const rows = await card.locator("dl").innerText();
    for (const fact of [
      "tools.exec.ask (changed)",
      "tools.exec.security (set)",
      "gateway.auth.token (changed)",
      "so that I need not ask any more",
      "agent:main:main",
    ])
      assert.ok(rows.includes(fact), `${fact} in\n${rows}`);
    assert.equal(await card.getByRole("button", { name: "Always allow" }).count(), 0);
    await card.getByRole("button", { name: "Deny" }).and(page.locator(":enabled")).waitFor();
    await page.screenshot({ path: join(shots, "desktop-approval-config.png") });
    await page.setViewportSize(phone);
    await page.screenshot({ path: join(shots, "phone-approval-config.png") });
    await card.getByRole("button", { name: "Deny" }).click();
    await card.waitFor({ state: "detached" });
    assert.deepEqual(opened[0]?.pageErrors, []);
  });

  test("queues approvals, survives a reload and disappears when answered elsewhere", async () => {
    const page = await open();
    const [first, second] = [ask(), ask({ command: "second command" })];
    const card = cardOf(page);
    await card.getByRole("heading", { name: "2 approvals are needed" }).waitFor();
    await card.getByText("1 more waiting").waitFor();
    await page.reload();
    await card.getByText("1 more waiting").waitFor();
    await wire.request("exec.approval.resolve", { id: first.id, decision: "deny" });
    await card.getByText("second command").waitFor();
    await wire.request("exec.approval.resolve", { id: second.id, decision: "deny" });
    await card.waitFor({ state: "detached" });
    assert.deepEqual([decisionOf(await first.answer), decisionOf(await second.answer)], ["deny", "deny"]);
  });

  test("disappears when it expires", async () => {
    const page = await open();
    const { answer } = ask({ timeoutMs: 10_000 });
    await cardOf(page).waitFor();
    assert.equal(decisionOf(await answer), null);
    await cardOf(page).waitFor({ state: "detached" });
  });

  test("works by keyboard, never takes the focus and can be collapsed", async () => {
    const page = await open();
    const message = page.getByLabel("Message", { exact: true });
    await message.focus();
    const { answer } = ask();
    const card = cardOf(page);
    await card.waitFor();
    await page.keyboard.type("still typing");
    assert.equal(await message.inputValue(), "still typing");
    await card.getByRole("button", { name: "Later" }).press("Enter");
    await card.getByRole("button", { name: "1 to approve" }).waitFor();
    assert.equal(await card.getByRole("button", { name: "Deny" }).count(), 0);
    await page.keyboard.press("Enter");
    await card.getByRole("button", { name: "Deny" }).waitFor();
    await card.getByRole("button", { name: "Deny" }).and(page.locator(":enabled")).waitFor();
    const names: string[] = [];
    for (let step = 0; step < 3; step += 1) {
      await page.keyboard.press("Tab");
      names.push(
        await page.evaluate(
          "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()",
        ),
      );
    }
    assert.deepEqual(names, ["Requested action", "Allow once", "Deny"]);
    await page.keyboard.press("Enter");
    assert.equal(decisionOf(await answer), "deny");
  });

  test("a click at the moment the card appears does not answer it", async () => {
    const { page, context } = await openPage(browser, "about:blank");
    opened.push({ page, context, pageErrors: [] });
    // Extends the time in which buttons are disabled, so that the click falls into it on a busy machine.
    await context.addInitScript({
      content:
        "const own = window.setTimeout; window.setTimeout = (step, ms, ...rest) => own(step, ms >= 300 && ms < 5000 ? ms * 1000 : ms, ...rest);",
    });
    await page.goto(`${gateway.url}/#pair=${await newCode(gateway)}`);
    await page.getByLabel("Message", { exact: true }).waitFor();
    const { id } = ask();
    const allow = cardOf(page).getByRole("button", { name: "Allow once" });
    await allow.waitFor();
    const box = await allow.boundingBox();
    await wire.request("exec.approval.resolve", { id, decision: "deny" });
    await cardOf(page).waitFor({ state: "detached" });
    const next = ask();
    await allow.waitFor();
    await page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
    const payload = await wire.call("exec.approvals.pending", {});
    assert.deepEqual(
      payload.pending.map((entry) => entry.id),
      [next.id],
    );
  });

  test("reports an answer that came too late", async () => {
    const { page, context } = await openPage(browser, "about:blank");
    opened.push({ page, context, pageErrors: [] });
    let isDeaf = false;
    await page.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((frame) => {
        if (!isDeaf || !frame.toString().includes('"type":"event"')) socket.send(frame);
      });
    });
    await page.goto(`${gateway.url}/#pair=${await newCode(gateway)}`);
    const { id } = ask();
    const allow = cardOf(page).getByRole("button", { name: "Allow once" });
    await allow.and(page.locator(":enabled")).waitFor();
    isDeaf = true;
    await wire.request("exec.approval.resolve", { id, decision: "deny" });
    await allow.click();
    await page.getByText("Your answer did not count").waitFor();
    await cardOf(page).waitFor({ state: "detached" });
  });

  test("fits a phone, with the buttons below the full text", async () => {
    const page = await open({ viewport: phone, hasTouch: true, isMobile: true });
    const lines = Array.from(
      { length: 60 },
      (_, index) => `echo step ${index} of a rather long line that has to be broken on a phone`,
    );
    const { answer } = ask({ command: lines.join("\n") });
    const card = cardOf(page);
    await card.waitFor();
    await page.screenshot({ path: join(shots, "phone-approval-long.png") });
    const inView = async (part: Locator): Promise<boolean> => {
      const box = await part.boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= phone.height;
    };
    const allow = card.getByRole("button", { name: "Allow once" });
    assert.equal(await inView(allow), false, "one has to scroll past the command to allow it");
    const wide = await page.evaluate("document.documentElement.scrollWidth");
    assert.equal(wide, phone.width);
    await allow.scrollIntoViewIfNeeded();
    assert.equal(await inView(allow), true);
    await page.screenshot({ path: join(shots, "phone-approval-end.png") });
    await card.getByRole("button", { name: "Deny" }).tap();
    assert.equal(decisionOf(await answer), "deny");

    const short = ask();
    await card.waitFor();
    await allow.and(page.locator(":enabled")).waitFor();
    await page.screenshot({ path: join(shots, "phone-approval.png") });
    await card.getByRole("button", { name: "Later" }).tap();
    await page.screenshot({ path: join(shots, "phone-approval-folded.png") });
    await page.getByLabel("Message", { exact: true }).tap();
    await page.keyboard.type("the way to the message is free");
    await page.getByRole("button", { name: "Menu" }).tap();
    await page.keyboard.press("Escape");
    await wire.request("exec.approval.resolve", { id: short.id, decision: "deny" });
  });

  test("works in dark mode and expands for a new approval", async () => {
    const page = await open({ viewport: desktop, colorScheme: "dark" });
    const { id } = ask();
    await cardOf(page).getByRole("button", { name: "Deny" }).and(page.locator(":enabled")).waitFor();
    await page.screenshot({ path: join(shots, "desktop-approval-dark.png") });
    await cardOf(page).getByRole("button", { name: "Later" }).click();
    await page.screenshot({ path: join(shots, "desktop-approval-folded.png") });
    const second = ask();
    await cardOf(page).getByRole("heading", { name: "2 approvals are needed" }).waitFor();
    await wire.request("exec.approval.resolve", { id: second.id, decision: "deny" });
    await wire.request("exec.approval.resolve", { id, decision: "deny" });
  });
});
