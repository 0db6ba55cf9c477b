// Embedders are cached, shared and replaced; a failing first choice is replaced by the fallback and tried again later.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { startFakeEmbeddings } from "../../../test/fakes/embeddings.ts";
import { json } from "../../../test/fakes/server.ts";
import type { Config } from "../../config/schema/index.ts";
import { parseAgentId } from "../../core/names.ts";
import type { Paths } from "../../base/paths.ts";
import { openEmbedders } from "./open.ts";

const state = mkdtempSync(join(tmpdir(), "embedders-"));
after(() => rmSync(state, { recursive: true, force: true }));
const paths: Paths = {
  home: state,
  state,
  config: join(state, "openclaw.json"),
  product: "openclaw",
  profile: undefined,
};
const main = parseAgentId("main");
const quiet = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };

function start(config: Config) {
  const now = { config, ticks: 0 };
  const clock = { now: () => Date.now(), ticks: () => now.ticks };
  return {
    now,
    embedders: openEmbedders({ config: () => now.config, env: { VOYAGE_API_KEY: "v" }, paths, clock, log: quiet }),
  };
}

const withRemote = (baseUrl: string, more: object = {}): Config => ({
  agents: { defaults: { memorySearch: { provider: "openai", remote: { baseUrl }, ...more } } },
});

test("shares an embedder between agents with the same settings", async () => {
  const server = await startFakeEmbeddings("openai");
  const { now, embedders } = start(withRemote(server.url));
  const first = (await embedders.open(main)).embedder;
  assert.equal((await embedders.open(parseAgentId("other"))).embedder, first);
  assert.equal(first?.fingerprint, `openai|text-embedding-3-small|${server.url}`);
  now.config = withRemote(server.url, { model: "another" });
  assert.equal((await embedders.open(main)).embedder?.model, "another");
  await embedders.close();
  await server.close();
});

test("switches to the fallback after three failures and later tries the first one again", async () => {
  let isDown = true;
  const server = await startFakeEmbeddings("openai", {
    instead: () => (isDown ? json(401, "who are you") : undefined),
  });
  const { now, embedders } = start(withRemote(server.url, { fallback: "voyage" }));
  const { embedder } = await embedders.open(main);
  await assert.rejects(embedder?.embed(["one"], "passage") ?? Promise.resolve());
  const spare = await embedders.open(main);
  assert.equal(spare.embedder?.provider, "voyage");
  assert.equal(spare.fallback?.from, "openai");
  assert.match(spare.fallback?.reason ?? "", /the key was not accepted/);
  isDown = false;
  now.ticks += 16_000;
  const back = await embedders.open(main);
  assert.equal(back.embedder?.provider, "openai");
  assert.equal(back.fallback, undefined);
  assert.equal((await back.embedder?.embed(["one"], "query"))?.length, 1);
  await embedders.close();
  await server.close();
});

test("answers a query immediately while the embedder is known to be down", async () => {
  const server = await startFakeEmbeddings("openai", { instead: () => json(401, "no") });
  const { now, embedders } = start(withRemote(server.url));
  const { embedder, fallback } = await embedders.open(main);
  assert.equal(fallback, undefined);
  for (let count = 0; count < 5; count += 1)
    await assert.rejects(embedder?.embed(["one"], "query") ?? Promise.resolve());
  assert.equal(server.requests.length, 1);
  now.ticks += 16_000;
  await assert.rejects(embedder?.embed(["one"], "query") ?? Promise.resolve());
  assert.equal(server.requests.length, 2);
  await embedders.close();
  await server.close();
});

test("returns the reason and the fix when there is no provider", async () => {
  const { embedders } = start({ agents: { defaults: { memorySearch: { provider: "gemini" } } } });
  assert.deepEqual(await embedders.open(main), {
    reason: 'No API key found for provider "gemini".',
    hint: "agents.defaults.memorySearch.remote.apiKey",
  });
  await embedders.close();
});
