// The prompt of a new session: recorded, small, and byte-stable over turns.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import type { SessionKey } from "../../core/names.ts";
import type { ModelRequest } from "../../model/model.ts";
import { openTestAgents, scriptedBook, text, type TestAgents } from "../../../test/harness/agent.ts";

const snapshot = new URL("./prompt.snap.txt", import.meta.url);

async function runtime(
  t: TestContext,
  models: ReturnType<typeof scriptedBook>,
  config: Record<string, unknown> = {},
): Promise<TestAgents> {
  const opened = await openTestAgents({ models, config: { agents: { defaults: { userTimezone: "UTC" } }, ...config } });
  t.after(() => opened.close());
  return opened;
}

const frame = ({ system, tools }: ModelRequest): string => JSON.stringify({ system, tools });

test("sends exactly the recorded prompt and schemas in a new session (UPDATE_SNAPSHOT=1 records them)", async (t) => {
  const models = scriptedBook(() => text("ok"));
  const opened = await runtime(t, models);
  await opened.ask("hello");
  await opened.ask("do it", { sessionKey: "agent:main:subagent:1" as SessionKey });
  const [fresh, sub] = models.requests;
  const shown = (request: ModelRequest | undefined): string =>
    [
      request?.system
        .replaceAll(opened.workspace, "<workspace>")
        .replace(`System: ${process.platform}`, "System: <os>"),
      "### Schemas",
      ...(request?.tools ?? []).map((tool) => JSON.stringify(tool)),
    ].join("\n");
  const now = `# Fresh session\n\n${shown(fresh)}\n\n# Subagent\n\n${shown(sub)}\n`;
  if (process.env["UPDATE_SNAPSHOT"] === "1") writeFileSync(snapshot, now);
  assert.equal(now, readFileSync(snapshot, "utf8"));
});

test("keeps the first request of a new session below 24,000 bytes", async (t) => {
  const models = scriptedBook(() => text("ok"));
  const opened = await runtime(t, models);
  await opened.ask("hello");
  const bytes = Buffer.byteLength(JSON.stringify(models.requests[0]));
  t.diagnostic(`first request: ${bytes} bytes`);
  assert.ok(bytes < 24_000, `${bytes} bytes`);
});

test("only appends to the first request over ten turns", async (t) => {
  const models = scriptedBook((_request, index) => text(`answer ${index}`));
  const opened = await runtime(t, models);
  for (let turn = 0; turn < 10; turn++) await opened.ask(`question ${turn}`, { stamp: true });
  for (const [index, request] of models.requests.entries()) {
    assert.equal(frame(request), frame(models.requests[0] ?? request));
    const before = models.requests[index - 1]?.messages ?? [];
    assert.deepEqual(request.messages.slice(0, before.length), before);
    assert.equal(request.messages.length, 2 * index + 1);
  }
});

test("leaves denied tools out of the prompt and the schemas", async (t) => {
  const models = scriptedBook(() => text("ok"));
  const opened = await runtime(t, models, { tools: { deny: ["write", "edit"] } });
  await opened.ask("hello");
  const [request] = models.requests;
  assert.ok(!/\b(write|edit):/.test(request?.system ?? ""));
  assert.ok(request?.tools.every(({ name }) => name !== "write" && name !== "edit"));
  assert.ok(request?.tools.some(({ name }) => name === "read"));
});

test("includes workspace files in order and truncated, and follows no symlink", async (t) => {
  const models = scriptedBook(() => text("ok"));
  const opened = await runtime(t, models, {
    agents: { defaults: { bootstrapMaxChars: 400 } },
  });
  const put = (name: string, words: string): void => writeFileSync(join(opened.workspace, name), words);
  mkdirSync(opened.workspace, { recursive: true });
  put("MEMORY.md", "remember the milk");
  put("AGENTS.md", `start ${"x".repeat(1000)} finish`);
  put("SOUL.md", "be brief");
  put("USER.md", "   ");
  put("secret.txt", "the secret");
  symlinkSync(join(opened.workspace, "secret.txt"), join(opened.workspace, "TOOLS.md"));
  await opened.ask("hello");
  const system = models.requests[0]?.system ?? "";
  const headings = [...system.matchAll(/^## (\w+\.md)$/gm)].map(([, name]) => name);
  assert.deepEqual(headings, ["AGENTS.md", "SOUL.md", "MEMORY.md"]);
  assert.match(
    system,
    /start x+\n\[… \d+ characters omitted here\. Read the whole file: read AGENTS\.md\. …\]\nx+ finish/,
  );
  assert.ok(!system.includes("the secret"));
});

test("includes MEMORY.md in the main session only", async (t) => {
  const models = scriptedBook(() => text("ok"));
  const opened = await runtime(t, models);
  writeFileSync(join(opened.workspace, "MEMORY.md"), "remember the milk");
  await opened.ask("hello", { sessionKey: "agent:main:telegram:group:1" as SessionKey });
  assert.ok(!models.requests[0]?.system.includes("milk"));
});
