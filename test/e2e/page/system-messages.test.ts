// System messages in the chat: separate from what the person typed, collapsed, with the full text on request.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { Browser, Locator, Page } from "playwright-core";

import { call, say, startFakeOpenAI, type FakeRequest, type FakeServer, type Reply } from "../../fakes/openai.ts";
import { dispose, openclaw, operator, type TestGateway } from "../../harness/gateway.ts";
import { startWithModel } from "../../harness/model.ts";
import { ensurePage, launchBrowser, noBrowser, openLinked } from "../../harness/page.ts";

describe("system messages in the chat", { skip: noBrowser }, () => {
  let server: FakeServer;
  let gateway: TestGateway;
  let browser: Browser;
  let page: Page;

  before(async () => {
    await ensurePage();
    server = await startFakeOpenAI(answer);
    gateway = await startWithModel(server, {
      more: { tools: { exec: { host: "gateway", ask: "on-miss", security: "allowlist" } } },
    });
    browser = await launchBrowser();
    ({ page } = await openLinked(browser, gateway));
  });
  after(async () => {
    await browser.close();
    await dispose(gateway);
    await server.close();
  });

  const write = async (text: string): Promise<void> => {
    await page.getByLabel("Message", { exact: true }).fill(text);
    await page.keyboard.press("Enter");
  };
  const replied = (text: string): Promise<void> => page.locator(".message.reply").getByText(text).waitFor();
  const systemMessage = (text: string): Locator => page.locator("details.system-message").filter({ hasText: text });

  test("the result of a subagent is a collapsed system message", async () => {
    await write("please delegate");
    const notice = systemMessage("“counter”, which you started, completed");
    await notice.waitFor();
    await replied("The parent heard of it.");
    assert.equal(await notice.getByText("Status: ok").isVisible(), false);
    await notice.locator("summary").press("Enter");
    await notice.getByText("Status: ok").waitFor();
    assert.deepEqual(await page.locator(".bubble").allTextContents(), ["please delegate"]);
  });

  test("an approved command shows its result as a system message", async () => {
    await write("please run");
    await page.locator("tool-card").getByText("approval requested").waitFor();
    await page.getByRole("region", { name: "Approvals" }).getByRole("button", { name: "Allow once" }).click();
    await systemMessage("Exec finished (code=0): ran well").waitFor();
    await replied("The command is over.");
    assert.deepEqual(await page.locator(".bubble").allTextContents(), ["please delegate", "please run"]);
  });

  test("after /new the chat shows a new session and not the instruction for the model", async () => {
    await page.getByRole("button", { name: "New session", exact: true }).click();
    await write("/new");
    await replied("I wait.");
    await page.reload();
    await replied("I wait.");
    await page.locator(".system-message").getByText("New session", { exact: true }).waitFor();
    assert.equal(await page.locator(".bubble").count(), 0);
    assert.doesNotMatch(await page.locator("chat-stream").innerText(), /instruction/);
    await page.goto(`${gateway.url}/#/chat/agent:main:main`);
  });

  test("the transcript names the source, and the CLI marks every line of a system message", async () => {
    const wire = await operator(gateway);
    const payload = await wire.call("chat.history", { sessionKey: "main", limit: 100 });
    wire.end();
    const { messages } = payload;
    assert.deepEqual(
      messages.filter(({ role }) => role === "user").map(({ source }) => source),
      [undefined, "sessions_spawn", undefined, "heartbeat"],
    );
    const { stdout, code } = await openclaw(gateway.home, ["sessions", "history", "main"]);
    assert.equal(code, 0);
    assert.match(stdout, /^> please delegate$/m);
    assert.match(stdout, /^· \[Subagent\] “counter”, which you started, completed/m);
    assert.match(stdout, /^· Status: ok$/m);
    assert.doesNotMatch(stdout, /^> \[Subagent\]/m);
  });

  test("the model does not receive the source", () => {
    for (const { body } of server.requests)
      for (const message of (body["messages"] ?? []) as object[]) assert.equal("source" in message, false);
  });
});

/** Answers by the last message, so that the order of turns does not matter. */
function answer({ body }: FakeRequest): Reply {
  const messages = body["messages"] as { role: string; content: unknown }[];
  const last = JSON.stringify(messages.at(-1));
  if (last.includes("Exec finished")) return say("The command is over.");
  if (last.includes("which you started")) return say("The parent heard of it.");
  if (last.includes("count the doors")) return say("Two doors.");
  if (last.includes("please delegate")) return call("sessions_spawn", { task: "count the doors", label: "counter" });
  if (last.includes("please run")) return call("exec", { command: "echo ran well" });
  return say("I wait.");
}
