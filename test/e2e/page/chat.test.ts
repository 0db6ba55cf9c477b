// The Chat view, with a real gateway, a real browser and a fake model server on loopback.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";

import type { Browser, Page } from "playwright-core";

import { calls, fail, say, startFakeOpenAI, type FakeServer, type Reply } from "../../fakes/openai.ts";
import { dispose, operator, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { modelConfig } from "../../harness/model.ts";
import { desktop, ensurePage, launchBrowser, noBrowser, openLinked, phone, type Opened } from "../../harness/page.ts";

const formatted = [
  "## What I found",
  "The file says **forty-two**, see `note.txt` and [the manual](https://example.org/manual).",
  "```ts",
  "export const answer = 42; // a line that is a good deal longer than a phone is wide, so that it has to scroll",
  "```",
  "| part | count |",
  "|---|--:|",
  "| doors | 2 |",
  "",
  "- [x] read the note",
  "- [ ] tell somebody",
].join("\n");

const hostile = [
  "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
  "",
  "[click](javascript:document.title='owned') [data](data:text/html,<script>1</script>) [good](https://example.org/)",
  "",
  "![far](https://example.org/track.png)",
  '<svg onload="document.title=\'owned\'"></svg> <a href="javascript:1">a</a>',
].join("\n");

describe("the Chat view", { skip: noBrowser }, () => {
  let server: FakeServer;
  let gateway: TestGateway;
  let browser: Browser;
  let shots: string;
  let replies: Reply[] = [];
  let opened: Opened[] = [];

  before(async () => {
    await ensurePage();
    shots = mkdtempSync(join(tmpdir(), "openclaw-chat-page-"));
    server = await startFakeOpenAI(() => replies.shift() ?? say("nothing more to say"));
    gateway = await startGateway({ config: twoModels(server) });
    mkdirSync(gateway.workspace, { recursive: true });
    writeFileSync(join(gateway.workspace, "note.txt"), "forty-two\n");
    browser = await launchBrowser();
  });

  beforeEach(async () => {
    await Promise.all(opened.map(({ context }) => context.close()));
    opened = [];
    replies = [];
  });

  after(async () => {
    await browser.close();
    await dispose(gateway);
    await server.close();
  });

  const open = async (options?: Parameters<typeof openLinked>[2]): Promise<Opened> => {
    const page = await openLinked(browser, gateway, options);
    opened.push(page);
    return page;
  };

  test("a message is sent with Enter, the reply streams in, and a reload shows both once", async () => {
    const { page, pageErrors } = await open();
    replies = [say("one two three four five six seven eight", { chunks: 8, delayMs: 600 })];
    await write(page, "count for me\nplease");
    // The first words show before the last; checked in one step, so that a slow machine does not matter.
    await until(
      page,
      "((words) => words.includes('one two') && !words.includes('eight'))(document.querySelector('.message.reply')?.innerText ?? '')",
    );
    await replyOf(page).filter({ hasText: "seven eight" }).waitFor();
    await idle(page);
    for (const turn of ["live", "reloaded"]) {
      assert.deepEqual(
        await shownTexts(page),
        ["count for me\nplease", "one two three four five six seven eight"],
        turn,
      );
      await page.reload();
      await replyOf(page).filter({ hasText: "seven eight" }).waitFor();
    }
    assert.deepEqual(pageErrors, []);
  });

  test("a tool call is a card with arguments, result and policy decision", async () => {
    const { page, pageErrors } = await open();
    await newSession(page);
    replies = [
      calls([{ name: "read", args: { path: "note.txt" } }], { before: "Let me look." }),
      say(formatted, { chunks: 20, delayMs: 5 }),
    ];
    await write(page, "what is in the note?");
    await page.getByRole("heading", { name: "What I found" }).waitFor();
    await idle(page);
    const card = page.locator("tool-card");
    assert.equal(await card.count(), 1);
    await card.getByText("done", { exact: true }).waitFor();
    await card.locator("summary").first().click();
    await card.getByLabel("Result text").filter({ hasText: "forty-two" }).waitFor();
    await card.getByText('"note.txt"').waitFor();
    await card.getByText("Why this is allowed").click();
    await card.getByText("No rule blocks it.").waitFor();
    assert.deepEqual(await order(page), ["user", "reply", "tool", "reply"]);
    await page.screenshot({ path: join(shots, "desktop-tool-light.png") });
    assert.deepEqual(pageErrors, []);
  });

  test("shows markup and unsafe links as text and loads no remote content", async () => {
    const { page, pageErrors, context } = await open();
    await newSession(page);
    const remoteRequests: string[] = [];
    context.on("request", (request) => {
      if (!request.url().startsWith(gateway.url)) remoteRequests.push(request.url());
    });
    replies = [say(hostile, { chunks: 30 })];
    await write(page, "attack me");
    await replyOf(page).filter({ hasText: "onload" }).waitFor();
    await idle(page);
    const found = await page.evaluate(`(() => {
      const reply = document.querySelector(".message.reply");
      return {
        title: document.title,
        odd: reply.querySelectorAll("img, script, svg, iframe, style, [onerror], [onload]").length,
        links: [...reply.querySelectorAll("a")].map(({ href, rel, target }) => [href, rel, target]),
      };
    })()`);
    const anchor = (href: string): string[] => [href, "noopener noreferrer", "_blank"];
    assert.deepEqual(found, {
      title: "Chat · OpenClaw",
      odd: 0,
      links: [anchor("https://example.org/"), anchor("https://example.org/track.png")],
    });
    assert.deepEqual([remoteRequests, pageErrors], [[], []]);
  });

  test("stops a run, keeps its text and continues the session", async () => {
    const { page } = await open();
    await newSession(page);
    replies = [say("slow ".repeat(200), { chunks: 200, delayMs: 100 }), say("back again")];
    await write(page, "talk slowly");
    await replyOf(page).filter({ hasText: "slow slow" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").waitFor();
    await idle(page);
    await write(page, "are you there?");
    await replyOf(page).filter({ hasText: "back again" }).waitFor();
  });

  test("queues a message that is sent during a run", async () => {
    const { page } = await open();
    await newSession(page);
    replies = [say("first ".repeat(30), { chunks: 30, delayMs: 300 }), say("second answer")];
    await write(page, "one");
    await replyOf(page).filter({ hasText: "first first" }).waitFor();
    await write(page, "two");
    await page.getByText(/^queued/).waitFor();
    await replyOf(page).filter({ hasText: "second answer" }).waitFor();
    await idle(page);
    assert.equal(await page.getByText(/^queued/).count(), 0);
    assert.deepEqual(
      (await shownTexts(page)).filter((text) => text === "one" || text === "two"),
      ["one", "two"],
    );
  });

  test("shows a model error in place, and the next message works", async () => {
    const { page } = await open();
    await newSession(page);
    replies = [fail(400, { error: { message: "this key may not do that", type: "invalid_request_error" } })];
    await write(page, "fail please");
    await page.getByRole("alert").filter({ hasText: "this key may not do that" }).waitFor();
    await idle(page);
    assert.equal(await page.getByRole("alert").count(), 1);
    replies = [say("well again")];
    await write(page, "and now?");
    await replyOf(page).filter({ hasText: "well again" }).waitFor();
  });

  test("switches the model of the session", async () => {
    const { page } = await open();
    await newSession(page);
    await page.getByLabel("Model").selectOption("fake/fake-2");
    await write(page, "who are you?");
    await replyOf(page).filter({ hasText: "nothing more" }).waitFor();
    assert.equal(modelsAsked(server).at(-1), "fake-2");
    assert.equal(await page.getByLabel("Model").inputValue(), "fake/fake-2");
    await page.getByLabel("Model").selectOption("");
    await idle(page);
    await write(page, "and now?");
    await replyOf(page).nth(1).waitFor();
    assert.equal(modelsAsked(server).at(-1), "fake-1");
    await page.getByLabel("Thinking").selectOption("high");
    await page.reload();
    await until(page, "document.querySelector('select[aria-label=Thinking]')?.value === 'high'");
  });

  test("lists, renames, resets and deletes sessions, each with its own draft", async () => {
    const { page, pageErrors } = await open();
    await newSession(page);
    const address = page.url();
    replies = [say("a good start")];
    await write(page, "begin");
    await replyOf(page).filter({ hasText: "a good start" }).waitFor();
    await idle(page);
    await menu(page, "Rename");
    await page.getByLabel("Session name").fill("Garden plans");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Garden plans", level: 1 }).waitFor();
    const listed = page.locator("session-list").getByRole("link", { name: /^Garden plans/ });
    await listed.getByText("a good start").waitFor();

    await page.getByLabel("Message", { exact: true }).fill("not yet sent");
    await page.locator("session-list").getByRole("link", { name: /^Main/ }).click();
    await page.getByRole("heading", { name: "Main", level: 1 }).waitFor();
    assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "");
    await page.goto(address);
    await page.reload();
    await page.getByRole("heading", { name: "Garden plans", level: 1 }).waitFor();
    assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "not yet sent");

    await menu(page, "Start over");
    await page.getByRole("button", { name: "Start over" }).last().click();
    await page.getByRole("heading", { name: "No messages yet" }).waitFor();
    await menu(page, "Delete");
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Main", level: 1 }).waitFor();
    await listed.waitFor({ state: "detached" });
    assert.deepEqual(pageErrors, []);
  });

  test("sessions, messages and tool cards work by keyboard", async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "New session" }).focus();
    await page.keyboard.press("Enter");
    await until(page, "document.activeElement?.id === 'chat-message'");
    replies = [calls([{ name: "read", args: { path: "note.txt" } }]), say("it says forty-two")];
    await page.keyboard.type("read the note");
    await page.keyboard.press("Enter");
    await replyOf(page).filter({ hasText: "it says forty-two" }).waitFor();
    await idle(page);
    await page.locator("tool-card summary").first().focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Result text").filter({ hasText: "forty-two" }).waitFor();
    assert.deepEqual(await page.evaluate("document.querySelector('.rows-of-chat').getAttribute('role')"), "log");
  });

  test("chat commands run tools, and a blocked one shows why", async () => {
    const { page } = await open();
    await newSession(page);
    await write(page, '/tool read {"path":"note.txt"}');
    await page.locator("chat-stream").getByText("forty-two").first().waitFor();
    await idle(page);
    await write(page, "/help");
    await page.locator("chat-stream").getByText("/status").first().waitFor();
  });

  test("shows the whole conversation after a connection loss during a run", async (t) => {
    const line = await openLine(gateway.port);
    t.after(line.close);
    const one = await openLinked(browser, { ...gateway, url: line.url });
    opened.push(one);
    const { page } = one;
    await newSession(page);
    replies = [say("word ".repeat(40), { chunks: 40, delayMs: 100 })];
    await write(page, "talk while I am away");
    await replyOf(page).filter({ hasText: "word word" }).waitFor();
    line.cut();
    await page.getByText("Disconnected:").waitFor();
    await page.getByText("Disconnected:").waitFor({ state: "detached" });
    await idle(page);
    assert.deepEqual(await shownTexts(page), ["talk while I am away", "word ".repeat(40).trim()]);
  });

  test("a long history opens at its end, and earlier messages load without moving the view", async () => {
    const wire = await operator(gateway);
    await wire.request("sessions.patch", { key: "agent:main:long", label: "Long" });
    for (let from = 0; from < 450; from += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          wire.request("chat.inject", { sessionKey: "agent:main:long", message: `message ${from + index}` }),
        ),
      );
    wire.end();
    const { page } = await open();
    await page.goto(`${gateway.url}/#/chat/${encodeURIComponent("agent:main:long")}`);
    await page.locator(".stream").getByText("message 449", { exact: true }).waitFor();
    assert.equal(await replyOf(page).count(), 200);
    await until(page, `${stream}.scrollHeight - ${stream}.scrollTop - ${stream}.clientHeight < 5`);
    await page.evaluate(`${stream}.scrollTop = 0`);
    const first = (await replyOf(page).first().innerText()).split("\n")[0] ?? "";
    await page.getByRole("button", { name: "Show earlier messages" }).click();
    await until(page, "document.querySelectorAll('.message.reply').length === 400");
    await until(page, `${stream}.scrollTop > 1000`);
    assert.ok(await page.locator(".stream").getByText(first, { exact: true }).isVisible());
    await page.getByRole("button", { name: "Jump to latest" }).click();
    await until(page, `${stream}.scrollHeight - ${stream}.scrollTop - ${stream}.clientHeight < 5`);
  });

  test("new messages do not scroll a reader to the end", async () => {
    const { page } = await open();
    await page.goto(`${gateway.url}/#/chat/${encodeURIComponent("agent:main:long")}`);
    await page.locator(".stream").getByText("message 449", { exact: true }).waitFor();
    replies = [say("line\n\n".repeat(30), { chunks: 30, delayMs: 40 })];
    await write(page, "more");
    await replyOf(page).filter({ hasText: "line" }).waitFor();
    await page.evaluate(`${stream}.scrollTop = 300`);
    const before = await page.evaluate(topmost);
    await idle(page);
    assert.equal(await page.evaluate(topmost), before);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
  });

  test("fits desktop and phone in light and dark", async (t) => {
    t.diagnostic(`screenshots: ${shots}`);
    replies = [calls([{ name: "read", args: { path: "note.txt" } }], { before: "Let me look." }), say(formatted)];
    const first = await open();
    await newSession(first.page);
    const address = first.page.url();
    await write(first.page, "what is in the note?");
    await first.page.getByRole("heading", { name: "What I found" }).waitFor();
    await idle(first.page);
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [name, viewport] of [
        ["desktop", desktop],
        ["phone", phone],
      ] as const) {
        const { page } = await open({ viewport, colorScheme });
        await page.goto(address);
        await page.getByRole("heading", { name: "What I found" }).waitFor();
        await page.waitForTimeout(200);
        await page.screenshot({ path: join(shots, `${name}-${colorScheme}.png`) });
        const isWhole = await page.evaluate(
          "document.documentElement.scrollWidth <= document.documentElement.clientWidth",
        );
        assert.equal(isWhole, true, `${name} ${colorScheme}`);
        if (name !== "phone") continue;
        await page.getByRole("button", { name: "Sessions" }).click();
        await page.locator("session-list").getByRole("link", { name: /^Main/ }).waitFor();
        await page.screenshot({ path: join(shots, `phone-list-${colorScheme}.png`) });
        await page.locator("session-list").getByRole("link", { name: /^Main/ }).click();
        await page.getByLabel("Message", { exact: true }).waitFor();
      }
    }
  });

  test("explains how to add a model, and tools work without one", async () => {
    const bare = await startGateway({ config: {}, env: { OPENCLAW_DISCOVERY_PORTS: "off" } });
    try {
      const { page } = await openLinked(browser, bare);
      await page.getByRole("heading", { name: "No model configured" }).waitFor();
      await page.getByText("openclaw configure --section model").waitFor();
      await page.screenshot({ path: join(shots, "desktop-no-model.png") });
      await write(page, "/tool session_status {}");
      await idle(page);
      await page.getByText("No model configured: commands and tools work").waitFor();
      await page.context().close();
    } finally {
      await dispose(bare);
    }
  });

  test("offers a local model server and selects it with one click", async () => {
    const bare = await startGateway({ config: {}, env: { OPENCLAW_DISCOVERY_PORTS: `vllm=${server.port}` } });
    try {
      const { page, context } = await openLinked(browser, bare, { viewport: phone });
      await page.getByRole("heading", { name: "No model selected" }).waitFor();
      await page.getByRole("button", { name: /^Test and use vllm\// }).waitFor();
      await page.screenshot({ path: join(shots, "phone-found.png") });
      replies = [fail(401, { error: { message: "wrong key", type: "invalid_request_error" } })];
      await page.getByRole("button", { name: /^Test and use vllm\// }).click();
      await page.getByText("The model did not answer.").waitFor();
      await page.screenshot({ path: join(shots, "phone-found-failed.png") });
      replies = [say("ok"), say("a first answer")];
      await page.getByRole("button", { name: /^Test and use vllm\// }).click();
      await page.getByRole("heading", { name: "No messages yet" }).waitFor();
      await write(page, "hello");
      await replyOf(page).filter({ hasText: "a first answer" }).waitFor();
      await context.close();
    } finally {
      await dispose(bare);
    }
  });
});

const stream = "document.querySelector('.stream')";
/** The text of the first visible row. */
const topmost = `[...document.querySelectorAll("chat-row")].find((row) =>
  row.getBoundingClientRect().top >= ${stream}.getBoundingClientRect().top).innerText`;

function twoModels(server: FakeServer): Record<string, unknown> {
  const config = modelConfig(server) as { models: { providers: { fake: { models: { id: string; name: string }[] } } } };
  const { models } = config.models.providers.fake;
  models.push(...models.map((model) => ({ ...model, id: "fake-2", name: "Fake Two" })));
  return config;
}

/** A proxy to the gateway whose connections can be cut. */
async function openLine(
  port: number,
): Promise<{ readonly url: string; readonly cut: () => void; readonly close: () => void }> {
  const ends = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const end of [near, far]) {
      ends.add(end);
      end.on("error", () => end.destroy()).on("close", () => ends.delete(end));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const end of ends) end.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close() {
      server.close();
      cut();
    },
  };
}

const replyOf = (page: Page) => page.locator(".message.reply");

/** Types lines as a person would: Shift+Enter between them, Enter at the end. */
async function write(page: Page, text: string): Promise<void> {
  const composer = page.getByLabel("Message", { exact: true });
  await composer.focus();
  for (const [index, line] of text.split("\n").entries()) {
    if (index > 0) await page.keyboard.press("Shift+Enter");
    await page.keyboard.insertText(line);
  }
  await page.keyboard.press("Enter");
  await until(page, "document.querySelector('#chat-message').value === ''");
}

/** The content policy forbids eval, so Playwright's waitForFunction cannot be used. */
async function until(page: Page, expression: string): Promise<void> {
  for (const endMs = Date.now() + 60_000; Date.now() < endMs;) {
    if ((await page.evaluate(expression)) === true) return;
    await page.waitForTimeout(20);
  }
  throw new Error(`never true: ${expression}`);
}

/** No run is active and the transcript contains everything. */
function idle(page: Page): Promise<void> {
  return until(
    page,
    "!document.querySelector('.button.stop') && !document.querySelector('.working') && !document.querySelector('[data-live]')",
  );
}

async function newSession(page: Page): Promise<void> {
  await page.getByRole("button", { name: "New session" }).click();
  await page.getByRole("heading", { name: /^Session /, level: 1 }).waitFor();
}

async function menu(page: Page, entry: string): Promise<void> {
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("group", { name: "This session" }).getByRole("button", { name: entry }).click();
}

/** The texts of both sides in order, without their footers. */
function shownTexts(page: Page): Promise<string[]> {
  return page.evaluate(
    "[...document.querySelectorAll('.message .bubble, .message .markdown')].map((box) => box.innerText.trim())",
  );
}

function order(page: Page): Promise<string[]> {
  return page.evaluate("[...document.querySelectorAll('chat-row')].map(({ row }) => row.kind)");
}

function modelsAsked(server: FakeServer): string[] {
  return server.requests.flatMap(({ path, body }) =>
    path.endsWith("/chat/completions") ? [String(body["model"])] : [],
  );
}
