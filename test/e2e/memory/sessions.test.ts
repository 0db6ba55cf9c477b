// Transcripts as memory: only when enabled, indexed when enough is new, only for the private chat.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { say, startFakeOpenAI, type FakeServer } from "../../fakes/openai.ts";
import { dispose, invoke, operator, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chat, startWithModel } from "../../harness/model.ts";

let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
let runs = 0;

before(async () => {
  server = await startFakeOpenAI(() => say("Noted, the marmot winters in Chur."));
  gateway = await startWithModel(server, {
    more: {
      agents: {
        defaults: {
          model: { primary: "fake/fake-1" },
          memorySearch: {
            provider: "none",
            sources: ["memory", "sessions"],
            experimental: { sessionMemory: true },
            sync: { sessions: { deltaMessages: 4, deltaBytes: 1_000_000 } },
          },
        },
        list: [
          { id: "main", default: true },
          { id: "plain", memorySearch: { experimental: { sessionMemory: false } } },
        ],
      },
    },
  });
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

interface Hit {
  readonly path: string;
  readonly source: string;
  readonly snippet: string;
  readonly startLine: number;
}

async function search(query: string, sessionKey = "main"): Promise<readonly Hit[]> {
  // Asked again while transcripts and notes are still being indexed.
  const { results } = await until(
    async () => {
      const { body } = await invoke(gateway, "memory_search", { query }, { body: { sessionKey } });
      return (body as { result: { details: { results: Hit[]; indexing?: true } } }).result.details;
    },
    ({ indexing }) => indexing !== true,
  );
  return results;
}

const talk = async (message: string, sessionKey = "main"): Promise<void> => {
  const { state } = await chat(wire, sessionKey, message, `run-${(runs += 1)}`);
  assert.equal(state, "final");
};

test("updates the index in the background with the first turn of a session", async () => {
  mkdirSync(join(gateway.workspace, "memory"), { recursive: true });
  writeFileSync(join(gateway.workspace, "memory", "a.md"), "the lynx is shy\n");
  await talk("where does the marmot winter?");
  assert.ok(await until(() => existsSync(join(gateway.state, "memory", "main.sqlite")), Boolean));
  const files = await until(
    async () => await wire.call("memory.status", {}),
    (status) => status.files >= 1,
  );
  assert.ok(files.files >= 1);
});

test("finds sessions with their own source; memory_get reads only files", async () => {
  await wire.request("memory.index", {});
  const [hit] = await search("marmot winters Chur");
  assert.equal(hit?.source, "sessions");
  assert.match(hit?.snippet ?? "", /Assistant: Noted, the marmot winters in Chur\.[\s\S]*Source: sessions\//);
  const { status } = await invoke(gateway, "memory_get", { path: hit?.path });
  assert.ok(status >= 400);
});

test("indexes a transcript when deltaMessages or deltaBytes is reached", async () => {
  await talk("remember the cormorant");
  assert.deepEqual(await search("cormorant"), []);
  await talk("remember the bittern");
  await talk("remember the grebe");
  const hits = await until(
    () => search("cormorant"),
    (found) => found.length > 0,
  );
  assert.equal(hits[0]?.source, "sessions");
});

test("does not show a private transcript to a group or to another agent", async () => {
  assert.deepEqual(await search("cormorant", "agent:main:telegram:group:-1"), []);
  assert.deepEqual(await search("cormorant", "agent:plain:main"), []);
});

test("indexes no transcripts without the experimental key", async () => {
  await talk("remember the pelican", "agent:plain:main");
  await wire.request("memory.index", { agentId: "plain" });
  assert.deepEqual(await search("pelican", "agent:plain:main"), []);
});

test("still finds the old transcript after a session reset", async () => {
  await talk("remember the dunlin", "agent:main:side");
  await wire.request("memory.index", {});
  await talk("remember the whimbrel", "agent:main:side");
  assert.equal((await wire.request("sessions.reset", { key: "agent:main:side" })).ok, true);
  await talk("remember the curlew", "agent:main:side");
  await wire.request("memory.index", {});
  for (const bird of ["dunlin", "whimbrel", "curlew"]) assert.equal((await search(bird)).length > 0, true, bird);
});

test("no longer finds a deleted session", async () => {
  await talk("remember the heron", "agent:main:side");
  await wire.request("memory.index", {});
  assert.ok((await search("heron")).length > 0);
  const gone = await wire.request("sessions.delete", { key: "agent:main:side" });
  assert.equal(gone.ok, true);
  await wire.request("memory.index", {});
  assert.deepEqual(await search("heron"), []);
});
