// How long web_search and web_fetch keep answers, with a clock that the test sets.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startFakeWeb, type FakeWeb } from "../../../test/fakes/web.ts";
import type { Config } from "../../config/schema/index.ts";
import { createExtraction } from "../../media/extract/extract.ts";
import { createGuard } from "../../media/guard/guard.ts";
import type { Tool, ToolCall } from "../tool.ts";
import { createWebFetch } from "./fetch.ts";
import { createWebSearch } from "./search.ts";

const MINUTE = 60_000;
const extraction = createExtraction();
let web: FakeWeb;
let now = 0;

before(async () => {
  web = await startFakeWeb();
});
after(async () => {
  await extraction.close();
  await web.close();
});

async function isCachedAfter(minutes: number, make: typeof createWebSearch | typeof createWebFetch, args: object) {
  const config = {
    tools: {
      web: { allowPrivateHosts: ["127.0.0.1"], search: { provider: "searxng", searxng: { baseUrl: web.url } } },
    },
  } as unknown as Config;
  const guard = createGuard({ config: () => config, env: {} });
  const clock = { now: () => now, ticks: () => now };
  const tool = make({ guard, extraction, clock, serviceEnv: () => ({}) }) as Tool;
  const call = { config, signal: new AbortController().signal, allows: () => false } as unknown as ToolCall;
  await tool.run({ ...args }, call);
  now += minutes * MINUTE;
  const { details } = await tool.run({ ...args }, call);
  return (details as { cached?: boolean }).cached === true;
}

test("web_search keeps an answer for 15 minutes by default", async () => {
  web.on("/search", (_request, response) => void response.end(JSON.stringify({ results: [] })));
  assert.equal(await isCachedAfter(14.9, createWebSearch, { query: "herons" }), true);
  assert.equal(await isCachedAfter(15, createWebSearch, { query: "herons" }), false);
});

test("web_fetch keeps a page for 15 minutes by default", async () => {
  web.page("/note", "a note", "text/plain");
  assert.equal(await isCachedAfter(14.9, createWebFetch, { url: `${web.url}/note` }), true);
  assert.equal(await isCachedAfter(15, createWebFetch, { url: `${web.url}/note` }), false);
});
