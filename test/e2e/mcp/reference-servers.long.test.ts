// The reference MCP servers as our tools, with every type of result. They are installed by npm into .tools on the first run.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { PNG } from "../../fakes/mcp-tools.ts";
import { say, startFakeOpenAI, type FakeServer } from "../../fakes/openai.ts";
import { until } from "../../harness/exec.ts";
import { operator, root, tempHome, type Wire } from "../../harness/gateway.ts";
import { answerNext, startMcpGateway, type McpGateway } from "../../harness/mcp-client.ts";
import { modelConfig } from "../../harness/model.ts";

const VERSION = "2026.8.31";
const folder = join(root, ".tools", `mcp-reference-${VERSION}`);
const names = ["everything", "filesystem", "memory", "sequential-thinking"];
const program = (name: string): string => join(folder, "node_modules", ".bin", `mcp-server-${name}`);

const home = tempHome();
let runtime: McpGateway;
let model: FakeServer;
let wire: Wire;
before(
  async () => {
    install();
    model = await startFakeOpenAI(() => say("the model's own words"));
    runtime = await startMcpGateway(
      {
        every: { command: process.execPath, args: [program("everything")] },
        files: { command: process.execPath, args: [program("filesystem"), root] },
        memory: {
          command: process.execPath,
          args: [program("memory")],
          env: { MEMORY_FILE_PATH: join(home, "memory.jsonl") },
        },
        think: { command: process.execPath, args: [program("sequential-thinking")] },
      },
      { home, config: modelConfig(model) },
    );
    wire = await operator(runtime.gateway);
    mkdirSync(runtime.gateway.workspace, { recursive: true });
  },
  { timeout: 300_000 },
);
after(async () => {
  wire.end();
  await runtime.close();
  await model.close();
});

function install(): void {
  if (names.every((name) => existsSync(program(name)))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const packages = names.map((name) => `@modelcontextprotocol/server-${name}@${VERSION}`);
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder, ...packages], { stdio: "ignore" });
}

/** Every tool that was called; the last test compares them with what the servers declare. */
const called = new Set<string>();

async function ok(tool: string, args: object = {}) {
  called.add(tool);
  const answer = await runtime.call(tool, args);
  assert.ok(answer.ok && !answer.isError, `${tool}: ${JSON.stringify(answer.error ?? answer.text)}`);
  return answer;
}

test("everything: text, numbers and a long call with progress", async () => {
  assert.match((await ok("every__echo", { message: "hello" })).text, /hello/);
  assert.match((await ok("every__get-sum", { a: 2, b: 40 })).text, /42/);
  assert.match((await ok("every__trigger-long-running-operation", { duration: 1, steps: 3 })).text, /completed/i);
});

test("everything: an image, annotated content, links, a resource and structured content", async () => {
  const image = await ok("every__get-tiny-image");
  assert.deepEqual(
    image.content.flatMap(({ type, mimeType }) => (type === "image" ? [mimeType] : [])),
    ["image/png"],
  );
  const annotated = await ok("every__get-annotated-message", { messageType: "success", includeImage: true });
  assert.ok(annotated.content.some(({ type }) => type === "image"));
  const links = await ok("every__get-resource-links", { count: 2 });
  assert.deepEqual(
    links.attachments.map(({ type }) => type),
    ["resource_link", "resource_link"],
  );
  const reference = await ok("every__get-resource-reference", { resourceType: "Text", resourceId: 1 });
  assert.deepEqual(
    reference.attachments.map(({ type }) => type),
    ["resource"],
  );
  const file = { name: "a.gz", data: "data:text/plain,hello" };
  for (const [outputType, type] of [
    ["resource", "resource"],
    ["resourceLink", "resource_link"],
  ] as const) {
    const packed = await ok("every__gzip-file-as-resource", { ...file, outputType });
    assert.deepEqual(
      packed.attachments.map((one) => one.type),
      [type],
    );
  }
  const structured = await ok("every__get-structured-content", { location: "New York" });
  assert.equal(typeof (structured.details as { temperature?: unknown }).temperature, "number");
});

test("everything: roots are the workspace, and no variable of the gateway is visible", async () => {
  assert.match((await ok("every__get-roots-list")).text, new RegExp(`file://${runtime.gateway.workspace}`));
  assert.doesNotMatch((await ok("every__get-env")).text, /OPENCLAW_(?!RUN)/);
});

test("everything: its question to the model and its form wait for the owner", async () => {
  const asking = ok("every__trigger-sampling-request", { prompt: "What is new?" });
  await answerNext(wire, "allow-once", /MCP server every asks your model/, /What is new\?/);
  assert.match((await asking).text, /the model's own words/);
  const filling = ok("every__trigger-elicitation-request");
  await answerNext(wire, "deny", /MCP server every asks for input/, /Your full, legal name/);
  assert.match((await filling).text, /decline/);
});

test("everything: messages that it sends on its own do no harm", async () => {
  for (const tool of ["every__toggle-simulated-logging", "every__toggle-subscriber-updates"]) {
    assert.match((await ok(tool)).text, /Started/);
    assert.match((await ok(tool)).text, /Stopped/);
  }
});

test("everything: arguments that do not fit the schema are refused before the server sees them", async () => {
  assert.equal((await runtime.call("every__get-sum", { a: "x", b: 1 })).error?.code, "tool.bad-arguments");
});

test("filesystem: the roots decide which folders it may use; writes, reads and pictures work", async () => {
  const { workspace } = runtime.gateway;
  // The server asks for the roots after the start and answers calls meanwhile.
  await until(
    async () => (await ok("files__list_allowed_directories")).text,
    (text) => text.includes(workspace),
  );
  const path = join(workspace, "note.txt");
  await ok("files__write_file", { path, content: "from the server" });
  assert.match((await ok("files__read_text_file", { path })).text, /from the server/);
  writeFileSync(join(workspace, "dot.png"), Buffer.from(PNG, "base64"));
  const media = await ok("files__read_media_file", { path: join(workspace, "dot.png") });
  assert.ok(media.content.some(({ type }) => type === "image"));
  await ok("files__read_file", { path });
  await ok("files__read_multiple_files", { paths: [path] });
  await ok("files__edit_file", { path, edits: [{ oldText: "from", newText: "by" }] });
  await ok("files__create_directory", { path: join(workspace, "folder") });
  await ok("files__move_file", { source: path, destination: join(workspace, "folder", "moved.txt") });
  for (const tool of ["list_directory", "list_directory_with_sizes", "directory_tree", "get_file_info"])
    await ok(`files__${tool}`, { path: workspace });
  assert.match((await ok("files__search_files", { path: workspace, pattern: "**/moved.txt" })).text, /moved\.txt/);
  const outside = await runtime.call("files__read_text_file", { path: "/etc/hostname" });
  assert.ok(outside.isError || !outside.ok);
});

test("memory: entities are stored and found", async () => {
  const entity = { name: "heron", entityType: "bird", observations: ["waits in shallow water"] };
  await ok("memory__create_entities", { entities: [entity] });
  assert.match((await ok("memory__search_nodes", { query: "heron" })).text, /shallow water/);
  await ok("memory__create_entities", { entities: [{ ...entity, name: "reed" }] });
  const relations = [{ from: "heron", to: "reed", relationType: "stands in" }];
  await ok("memory__create_relations", { relations });
  await ok("memory__add_observations", { observations: [{ entityName: "heron", contents: ["gray"] }] });
  assert.match((await ok("memory__open_nodes", { names: ["heron"] })).text, /gray/);
  assert.match((await ok("memory__read_graph")).text, /stands in/);
  await ok("memory__delete_observations", { deletions: [{ entityName: "heron", observations: ["gray"] }] });
  await ok("memory__delete_relations", { relations });
  await ok("memory__delete_entities", { entityNames: ["heron", "reed"] });
});

test("sequential-thinking: a step is recorded", async () => {
  const step = { thought: "first", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  assert.match((await ok("think__sequentialthinking", step)).text, /thoughtNumber/);
});

test("every tool of the four servers was called, and one that works only as a task is not offered", async () => {
  const { tools } = await wire.call("tools.catalog", {});
  const offered = tools.map(({ name }) => name).filter((name) => /^(?:every|files|memory|think)__/.test(name));
  assert.deepEqual(offered.toSorted(), [...called].toSorted());
  assert.ok(!offered.includes("every__simulate-research-query"));
});
