// Embedders over the network: the contract cases for each vendor, and failing servers.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { startFakeEmbeddings, type FakeEmbeddingsOptions, type Vendor } from "../../../test/fakes/embeddings.ts";
import { json, type FakeServer } from "../../../test/fakes/server.ts";
import { embedderCases } from "./embedder.cases.ts";
import { EmbedError, type Embedder } from "./embedder.ts";
import { createGemini } from "./gemini.ts";
import { createOllama } from "./ollama.ts";
import { createOpenAI, type RemoteSettings } from "./openai.ts";
import type { Patience } from "./request.ts";
import { createVoyage } from "./voyage.ts";

const key = "sk-embed-0123456789abcdef";
const makers: Readonly<Record<Vendor, (settings: RemoteSettings) => Embedder>> = {
  openai: createOpenAI,
  gemini: createGemini,
  voyage: createVoyage,
  ollama: createOllama,
};
const servers: FakeServer[] = [];
after(() => Promise.all(servers.map((server) => server.close())));

async function serve(vendor: Vendor, options: FakeEmbeddingsOptions = {}): Promise<FakeServer> {
  const server = await startFakeEmbeddings(vendor, { key, ...options });
  servers.push(server);
  return server;
}

function connect(vendor: Vendor, server: FakeServer, more: Partial<RemoteSettings> = {}): Embedder {
  const settings = { model: "some-model", baseUrl: server.url, apiKey: key, headers: {}, hint: "memorySearch.remote" };
  return makers[vendor]({ ...settings, ...more });
}

const quick: Patience = { tries: 3, waitMs: 500, deadlines: { connectMs: 500, firstTokenMs: 150, stallMs: 150 } };
const patience = { query: quick, passage: quick };
const fails = (code: string) => (error: unknown) => error instanceof EmbedError && error.code === code;

for (const vendor of ["openai", "gemini", "voyage", "ollama"] as const) {
  embedderCases(vendor, async () => ({ embedder: connect(vendor, await serve(vendor)), many: 300 }));

  test(`${vendor}: reports a wrong key once without a retry`, async () => {
    const server = await serve(vendor, { key: "another" });
    await assert.rejects(connect(vendor, server).embed(["one"], "passage"), fails("embed.auth"));
    assert.equal(server.requests.length, 1);
  });

  test(`${vendor}: retries an overloaded server after the delay that it names`, async () => {
    const server = await serve(vendor, {
      instead: (_, index) => {
        if (index === 0) return json(429, { error: { message: "slow down" } }, { "retry-after-ms": "30" });
        return index === 1 ? json(503, "no room") : undefined;
      },
    });
    const vectors = await connect(vendor, server, { patience: { query: { ...quick, waitMs: 5000 } } }).embed(
      ["one"],
      "query",
    );
    assert.equal(vectors.length, 1);
    assert.equal(server.requests.length, 3);
    assert.ok((server.requests[1]?.at ?? 0) - (server.requests[0]?.at ?? 0) >= 29);
  });

  test(`${vendor}: sends a configured header with every request, overriding ours`, async () => {
    const server = await serve(vendor);
    const name = vendor === "gemini" ? "X-Goog-Api-Key" : "Authorization";
    const headers = { [name]: vendor === "gemini" ? key : `Bearer ${key}`, "x-team": "seven" };
    await connect(vendor, server, { apiKey: "not this one", headers }).embed(["one"], "query");
    assert.equal(server.requests[0]?.headers["x-team"], "seven");
  });
}

test("sends queries and passages differently where the service distinguishes them", async () => {
  const voyage = await serve("voyage");
  const gemini = await serve("gemini");
  const ollama = await serve("ollama");
  for (const kind of ["query", "passage"] as const) {
    await connect("voyage", voyage).embed(["one"], kind);
    await connect("gemini", gemini).embed(["one"], kind);
    await connect("ollama", ollama, { model: "nomic-embed-text" }).embed(["one"], kind);
  }
  assert.deepEqual(
    voyage.requests.map(({ body }) => body["input_type"]),
    ["query", "document"],
  );
  assert.deepEqual(
    gemini.requests.map(({ body }) => (body["requests"] as { taskType: string }[])[0]?.taskType),
    ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"],
  );
  assert.deepEqual(
    ollama.requests.map(({ body }) => body["input"]),
    [["search_query: one"], ["search_document: one"]],
  );
});

test("splits large work by count and by bytes, two requests at a time", async () => {
  let open = 0;
  let most = 0;
  const server = await serve("openai", {
    instead: async () => {
      open += 1;
      most = Math.max(most, open);
      // Long enough for a third request to arrive; over before the answer lets the client send the next one.
      await sleep(20);
      open -= 1;
      return undefined;
    },
  });
  const embedder = connect("openai", server);
  await embedder.embed(
    Array.from({ length: 600 }, (_, at) => `text ${at}`),
    "passage",
  );
  await embedder.embed(
    Array.from({ length: 5 }, () => "word ".repeat(30_000)),
    "passage",
  );
  assert.deepEqual(
    server.requests.map(({ body }) => (body["input"] as string[]).length).toSorted((left, right) => right - left),
    [256, 256, 88, 2, 2, 1],
  );
  assert.equal(most, 2);
});

test("reports embed.garbled for invalid, incomplete or inconsistent responses", async () => {
  const answers: unknown[] = [
    "not json at all",
    { data: [] },
    { data: [{ index: 0, embedding: "x" }] },
    {
      data: [
        { index: 0, embedding: [1, null] },
        { index: 1, embedding: [1] },
      ],
    },
    { other: 1 },
  ];
  for (const answer of answers) {
    const server = await serve("openai", { instead: () => json(200, answer) });
    await assert.rejects(connect("openai", server).embed(["one", "two"], "query"), fails("embed.garbled"));
  }
});

test("does not follow a redirect: neither key nor notes go to another host", async () => {
  const other = await serve("openai");
  const server = await serve("openai", { instead: () => json(307, "", { location: `${other.url}/embeddings` }) });
  await assert.rejects(connect("openai", server).embed(["one"], "query"), fails("embed.invalid"));
  assert.equal(other.requests.length, 0);
});

test("redacts a key that the server repeats in an error", async () => {
  const server = await serve("openai", { instead: () => json(400, { error: { message: `bad request with ${key}` } }) });
  await assert.rejects(connect("openai", server).embed(["one"], "query"), (error: unknown) => {
    assert.ok(error instanceof EmbedError);
    assert.doesNotMatch(error.message, new RegExp(key));
    assert.equal(error.hint, "memorySearch.remote");
    return true;
  });
});

test("reports network and timeout after a few tries for a missing, broken or silent server", async () => {
  const gone = await startFakeEmbeddings("openai");
  await gone.close();
  await assert.rejects(connect("openai", gone, { patience }).embed(["one"], "query"), fails("embed.network"));
  const cut = await serve("openai", { instead: () => "drop" });
  await assert.rejects(connect("openai", cut, { patience }).embed(["one"], "query"), fails("embed.network"));
  const silent = await serve("openai", { instead: () => "hang" });
  await assert.rejects(connect("openai", silent, { patience }).embed(["one"], "query"), fails("embed.timeout"));
});
