// The Cron view, with a real gateway and a real browser.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";

import type { Browser, Locator, Page } from "playwright-core";

import { addJob, ask, type WireJob } from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { say, startFakeOpenAI, type FakeServer } from "../../fakes/openai.ts";
import { dispose, operator, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { startWithModel } from "../../harness/model.ts";
import {
  desktop,
  ensurePage,
  launchBrowser,
  noBrowser,
  openLinked,
  phone,
  type ContextOptions,
  type Opened,
} from "../../harness/page.ts";

describe("the Cron view", { skip: noBrowser }, () => {
  let browser: Browser;
  let server: FakeServer;
  let gateway: TestGateway;
  let wire: Wire;
  let shots: string;
  let opened: Opened[] = [];

  before(async () => {
    await ensurePage();
    shots = process.env["OPENCLAW_TEST_SHOTS"] ?? mkdtempSync(join(tmpdir(), "openclaw-page-cron-"));
    server = await startFakeOpenAI(() => say("the <b>garden</b> is fine"));
    gateway = await startWithModel(server, { more: { agents: { defaults: { model: { primary: "fake/fake-1" } } } } });
    mkdirSync(gateway.workspace, { recursive: true });
    wire = await operator(gateway);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    wire.end();
    await dispose(gateway);
    await server.close();
  });
  afterEach(async () => {
    await Promise.all(opened.map(({ context }) => context.close()));
    opened = [];
  });

  const open = async (options?: ContextOptions): Promise<Page> => {
    const linked = await openLinked(browser, gateway, options);
    opened.push(linked);
    await linked.page.goto(`${gateway.url}/#/cron`);
    await linked.page.getByRole("heading", { name: "Cron", level: 1 }).waitFor();
    return linked.page;
  };
  const detail = (page: Page): Locator => page.getByRole("region", { name: "Opened job" });
  const jobNamed = async (name: string): Promise<WireJob | undefined> =>
    (await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true })).jobs.find(
      (job) => job.name === name,
    );

  test("adds a job with a preview of its next runs, runs, disables and removes it", async () => {
    const page = await open();
    await page.getByText(/^openclaw cron add /).waitFor();
    await page.screenshot({ path: join(shots, "cron-empty.png") });
    await page.getByRole("link", { name: "Add a job" }).click();
    const form = detail(page);
    await form.getByText(/Next: \d{4}-/).waitFor();
    await form.getByRole("button", { name: "Add the job" }).click();
    await form.getByText("Enter what the agent should do.").waitFor();
    await form.getByLabel("Name").fill("count <i>stars</i>");
    await form.getByLabel("When").selectOption({ label: "Cron expression" });
    await form.getByLabel("Expression").fill("61 7 * * *");
    await form.locator(".issue").filter({ hasText: "61" }).waitFor();
    await form.getByLabel("Expression").fill("30 7 * * 1-5");
    await form.getByLabel("Time zone").fill("Europe/Berlin");
    await form.getByText(/Next: .* 07:30; .* · Europe\/Berlin/).waitFor();
    assert.equal(await form.getByLabel("Channel").count(), 1, "an isolated job announces by default");
    await form.getByLabel("What", { exact: true }).selectOption({ label: "Run a command, without a model" });
    await form.getByLabel("Result").selectOption({ label: "Keep in the history only" });
    assert.equal(await form.getByLabel("Channel").count(), 0);
    await form.getByLabel("Command").fill("echo '<img src=x>' of 40 stars");
    await page.screenshot({ path: join(shots, "cron-form.png") });
    await form.getByRole("button", { name: "Add the job" }).click();

    await form.getByRole("heading", { name: "count <i>stars</i>" }).waitFor();
    const { id: _id, state: _state, ...job } = (await jobNamed("count <i>stars</i>")) ?? assert.fail("not there");
    const { createdAtMs: _created, updatedAtMs: _updated, ...body } = job as Record<string, unknown>;
    assert.deepEqual(body, {
      name: "count <i>stars</i>",
      enabled: true,
      schedule: { kind: "cron", expr: "30 7 * * 1-5", tz: "Europe/Berlin" },
      sessionTarget: "isolated",
      wakeMode: "now",
      delivery: { mode: "none" },
      payload: { kind: "exec", command: "echo '<img src=x>' of 40 stars" },
    });
    const history = page.getByRole("region", { name: "History" });
    await history.getByText("No runs yet.").waitFor();
    await form.getByRole("button", { name: "Run now" }).click();
    await history.getByText("ran", { exact: true }).waitFor();
    await history.getByText("<img src=x> of 40 stars").waitFor();
    await form.getByText("The run has ended; see the history below.").waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    await page.screenshot({ path: join(shots, "cron-job.png") });

    await form.getByRole("button", { name: "Disable" }).click();
    await form.getByRole("button", { name: "Enable" }).waitFor();
    assert.equal((await jobNamed("count <i>stars</i>"))?.enabled, false);
    await form.getByRole("button", { name: "Enable" }).click();
    await form.getByRole("button", { name: "Disable" }).waitFor();

    await form.getByRole("button", { name: "Remove" }).click();
    await form.getByRole("button", { name: "Cancel" }).click();
    await form.getByRole("button", { name: "Remove" }).click();
    await form.getByRole("button", { name: "Remove", exact: true }).click();
    await form.getByText("Select a job to see").waitFor();
    assert.equal(await jobNamed("count <i>stars</i>"), undefined);
    assert.deepEqual(opened[0]?.pageErrors, []);
  });

  test("a run links to its session, and changes by other clients show automatically", async () => {
    const page = await open();
    const { id } = await addJob(wire, {
      name: "look after the garden",
      schedule: { kind: "every", everyMs: 86_400_000 },
      payload: { kind: "agentTurn", message: "How is the garden?" },
      delivery: { mode: "none" },
    });
    await page.getByRole("link", { name: /^look after the garden new/ }).click();
    const history = page.getByRole("region", { name: "History" });
    await history.getByText("No runs yet.").waitFor();
    await ask(wire, "cron.run", { id, mode: "force" });
    await history.getByText("the <b>garden</b> is fine").waitFor();
    await page.getByRole("link", { name: /^look after the garden ok/ }).waitFor();
    await history.getByRole("link", { name: "Open session" }).click();
    await page.getByText("How is the garden?").first().waitFor();
    assert.match(page.url(), /#\/chat\/agent%3Amain%3Acron/);
    await ask(wire, "cron.remove", { id });
    assert.deepEqual(opened[0]?.pageErrors, []);
  });

  test("fits a phone in light and dark, and every field has a label", async () => {
    const { id } = await addJob(wire, {
      name: "a job with quite a long name that has to be broken on a small screen somewhere",
      enabled: false,
      schedule: { kind: "cron", expr: "*/5 8-18 * * 1-5", tz: "America/Argentina/Buenos_Aires" },
      payload: { kind: "agentTurn", message: "word ".repeat(120) },
    });
    for (const [name, options] of [
      ["phone", { viewport: phone, hasTouch: true, isMobile: true }],
      ["phone-dark", { viewport: phone, colorScheme: "dark" }],
      ["desktop-dark", { viewport: desktop, colorScheme: "dark" }],
    ] as const) {
      const page = await open(options);
      for (const place of ["", `/${id}`, "/new"]) {
        await page.goto(`${gateway.url}/#/cron${place}`);
        await (place === "" ? page.getByText("a job with quite") : detail(page).getByRole("heading").first())
          .first()
          .waitFor();
        const wide = await until(
          () => page.evaluate("document.documentElement.scrollWidth") as Promise<number>,
          (width) => width <= options.viewport.width,
        );
        assert.equal(wide, options.viewport.width);
        await page.screenshot({
          path: join(shots, `cron-${name}${place === "" ? "" : place === "/new" ? "-new" : "-job"}.png`),
          fullPage: true,
        });
      }
      const unnamed = await page.evaluate(
        "[...document.querySelectorAll('main select, main input, main textarea')].filter((field) => field.labels.length === 0).length",
      );
      assert.equal(unnamed, 0);
    }
    await ask(wire, "cron.remove", { id });
  });
});
