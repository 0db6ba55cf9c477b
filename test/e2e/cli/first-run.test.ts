// A newcomer's walk: an empty home, one command, one link, a tool without any key, then a model found and talked to.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { call, say, startFakeOpenAI, type FakeRequest } from "../../fakes/openai.ts";
import { newCli, wellEnded } from "../../harness/cli.ts";
import { freePort, root, tempHome } from "../../harness/gateway.ts";
import { desktop, ensurePage, launchBrowser, noBrowser, openPage } from "../../harness/page.ts";

test("from an empty home to a conversation with a tool call", { skip: noBrowser, timeout: 600_000 }, async (t) => {
  await ensurePage();
  const home = tempHome();
  const modelPort = await freePort();
  // What `npm start` runs once the clone is set up.
  const child = spawn(process.execPath, [join(root, "openclaw.mjs"), "gateway", "run", "--setup", "--port", "0"], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1", OPENCLAW_DISCOVERY_PORTS: `vllm=${modelPort}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const browser = await launchBrowser();
  const answer = ({ body }: FakeRequest) => {
    const { messages } = body as { messages: { role: string; content: unknown }[] };
    if (JSON.stringify(messages.at(-1)).includes("single word")) return say("ready");
    return messages.at(-1)?.role === "tool" ? say("You have one agent: main.") : call("agents_list", {});
  };
  let server: Awaited<ReturnType<typeof startFakeOpenAI>> | undefined;
  try {
    const link = await linkFrom(child);
    assert.equal((statSync(join(home, ".openclaw", "openclaw.json")).mode & 0o777).toString(8), "600");
    const { page, pageErrors } = await openPage(browser, link, { viewport: desktop });
    await page.getByLabel("Message", { exact: true }).waitFor();
    assert.ok(!page.url().includes("pair="), "the code is gone from the address");

    await page.getByRole("heading", { name: "No model configured" }).waitFor();
    await sendWords(page, "/tool agents_list {}");
    await page.getByText('"requester": "main"').first().waitFor();

    server = await startFakeOpenAI(answer, { port: modelPort });
    await page.getByText("No model configured: commands and tools work").click();
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByRole("button", { name: /^Test and use vllm\// }).click();
    await page
      .getByText(/No model configured/)
      .first()
      .waitFor({ state: "detached" });
    assert.match(readFileSync(join(home, ".openclaw", "openclaw.json"), "utf8"), /vllm\/fake-model/);

    await sendWords(page, "which agents are there?");
    await page.getByText("You have one agent: main.").first().waitFor();
    await page.locator("tool-card").getByText("done", { exact: true }).first().waitFor();
    const shots = mkdtempSync(join(tmpdir(), "openclaw-newcomer-"));
    await page.screenshot({ path: join(shots, "chat.png") });
    t.diagnostic(`screenshot: ${join(shots, "chat.png")}`);
    assert.deepEqual(pageErrors, []);
    assert.ok(existsSync(join(home, ".openclaw", "openclaw.sqlite")));
  } finally {
    await browser.close();
    child.kill("SIGTERM");
    await new Promise((resolve) => child.on("exit", resolve));
    await server?.close();
  }
});

test("a first start adds the mode and a token to a config that a command wrote before", async () => {
  const home = tempHome();
  const cli = newCli(undefined, home);
  wellEnded(await cli.run("config", "set", "gateway.http.endpoints.mcp.enabled", "true"));
  const blocked = await cli.run("gateway", "run", "--port", "0");
  assert.match(blocked.stderr, /Gateway start blocked[^]*gateway run --setup adds it/);
  const child = spawn(process.execPath, [join(root, "openclaw.mjs"), "gateway", "run", "--setup", "--port", "0"], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    await linkFrom(child);
    const config = JSON.parse(wellEnded(await cli.run("config", "get", "gateway", "--json"))) as {
      mode: string;
      http: { endpoints: { mcp: { enabled: boolean } } };
    };
    assert.deepEqual([config.mode, config.http.endpoints.mcp.enabled], ["local", true]);
    assert.match(wellEnded(await cli.run("gateway", "call", "health")), /"ok": true/);
  } finally {
    child.kill("SIGTERM");
    await new Promise((resolve) => child.on("exit", resolve));
  }
});

async function sendWords(page: Awaited<ReturnType<typeof openPage>>["page"], words: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(words);
  await page.getByLabel("Message", { exact: true }).press("Enter");
}

function linkFrom(child: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const link = /http:\/\/\S+#pair=\S+/.exec(output);
      if (link !== null) resolve(link[0]);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.on("exit", (code) => reject(new Error(`ended with ${code} before it printed a link:\n${output}`)));
  });
}
