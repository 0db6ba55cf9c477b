// Programs of others that speak MCP, which npx fetches: the Inspector's command line and the official client 1.x, over HTTP and stdio.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";

import { root } from "../../harness/gateway.ts";
import { openSampleGateway, type SampleGateway } from "../../harness/mcp-sample.ts";

const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const CLIENT = "@modelcontextprotocol/sdk@1.32.2";
let gateway: SampleGateway;
before(async () => {
  gateway = await openSampleGateway();
});
after(() => gateway.close());

async function npx(words: readonly string[]): Promise<string> {
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) };
  const child = spawn("npx", ["--yes", ...words], { stdio: ["ignore", "pipe", "inherit"], timeout: 300_000, env });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 0, output);
  return output;
}

const stdio = (): string[] => {
  const url = gateway.url.replace(/^http/, "ws");
  return [process.execPath, join(root, "openclaw.mjs"), "mcp", "serve", "--url", url, "--token", gateway.token];
};

test("the Inspector lists, calls, reads and gets over HTTP", async () => {
  const inspect = async (...words: string[]): Promise<Record<string, unknown>> => {
    const target = ["--cli", `${gateway.url}/mcp`, "--transport", "http"];
    const header = ["--header", `authorization: Bearer ${gateway.token}`];
    return JSON.parse(await npx([INSPECTOR, ...target, ...header, "--method", ...words])) as Record<string, unknown>;
  };
  const { tools } = (await inspect("tools/list")) as { tools: { name: string }[] };
  assert.ok(tools.some(({ name }) => name === "read"));
  const { content } = (await inspect("tools/call", "--tool-name", "test_simple_text")) as { content: unknown };
  assert.deepEqual(content, [{ type: "text", text: "This is a simple text response for testing." }]);
  const { contents } = (await inspect("resources/read", "--uri", "test://static-text")) as {
    contents: { text: string }[];
  };
  assert.equal(contents[0]?.text, "This is the content of the static text resource.");
  const { prompts } = (await inspect("prompts/list")) as { prompts: { name: string }[] };
  assert.ok(prompts.some(({ name }) => name === "test_simple_prompt"));
});

test("the Inspector calls over stdio", async () => {
  const answer = await npx([
    INSPECTOR,
    "--cli",
    ...stdio(),
    "--method",
    "tools/call",
    "--tool-name",
    "test_simple_text",
  ]);
  assert.match(answer, /This is a simple text response for testing/);
});

for (const how of ["http", "stdio"])
  test(`the official client 1.x uses every feature over ${how}`, async () => {
    const target = how === "http" ? [`${gateway.url}/mcp`, gateway.token] : stdio();
    const script = join(root, "test", "fixtures", "mcp-client-v1.mjs");
    const output = await npx([`--package=${CLIENT}`, "--", process.execPath, script, how, ...target]);
    assert.deepEqual(JSON.parse(output), {
      questions: 1,
      progress: [0, 50, 100],
      logs: 3,
      answer: 'The client answered: {"user_name":{"action":"accept","content":{"name":"Ada"}}}',
      types: ["text", "image", "resource"],
      tools: true,
      structured: { degrees: 21 },
      failed: true,
      prompt: "Prompt with arguments: arg1='a', arg2='b'",
      resource: "This is the content of the static text resource.",
    });
  });
