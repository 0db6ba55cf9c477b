// Semantic search through a gateway: a provider, a provider that is down, a fallback, a crash, the local model.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { findExtra } from "../../../src/memory/embed/extra.ts";
import { until } from "../../harness/exec.ts";
import { startFakeEmbeddings, type FakeEmbeddingsOptions } from "../../fakes/embeddings.ts";
import { json, type FakeServer } from "../../fakes/server.ts";
import { dispose, invoke, openclaw, startGateway, type TestGateway } from "../../harness/gateway.ts";

interface Answer {
  readonly results: readonly { readonly path: string; readonly snippet: string; readonly score: number }[];
  readonly provider: string;
  readonly model?: string;
  readonly fallback?: { readonly from: string; readonly reason: string };
  readonly notes?: readonly string[];
  readonly indexing?: true;
}
interface Status {
  readonly provider: string;
  readonly vector: {
    readonly engine?: string;
    readonly ready: number;
    readonly missing: number;
    readonly dimensions?: number;
  };
  readonly notes: readonly string[];
}

const key = "sk-embed-0123456789abcdef";
const synonyms = { automobile: "car", vehicle: "car", garage: "workshop", restore: "repair", fix: "repair" };
const notes = {
  "memory/2026-04-02.md": "# Thursday\n\nThe car is at the workshop; the repair of the brakes costs 300.\n",
  "memory/2026-04-03.md": "# Friday\n\nLentil soup for six people, with cumin and lemon.\n",
  "memory/2026-04-04.md": "# Saturday\n\nMarta moved to Lisbon and starts at the museum in May.\n",
};
const servers: FakeServer[] = [];
after(() => Promise.all(servers.map((server) => server.close())));

async function serve(options: FakeEmbeddingsOptions = {}): Promise<FakeServer> {
  const server = await startFakeEmbeddings("openai", { key, synonyms, ...options });
  servers.push(server);
  return server;
}

async function start(memorySearch: object, more: { home?: string; models?: object } = {}): Promise<TestGateway> {
  const { home, models } = more;
  const gateway = await startGateway({
    ...(home === undefined ? {} : { home }),
    config: { agents: { defaults: { memorySearch } }, ...(models === undefined ? {} : { models }) },
  });
  for (const [path, text] of Object.entries(notes)) {
    mkdirSync(dirname(join(gateway.workspace, path)), { recursive: true });
    writeFileSync(join(gateway.workspace, path), text);
  }
  return gateway;
}

/** Asked again while notes are still being indexed. */
const search = (gateway: TestGateway, query: string): Promise<Answer> =>
  until(
    async () => {
      const { status, body } = await invoke(gateway, "memory_search", { query });
      assert.equal(status, 200, JSON.stringify(body));
      return (body as { result: { details: Answer } }).result.details;
    },
    ({ indexing }) => indexing !== true,
  );

/** Asks until the answer is as wanted: vectors come in the background. */
async function searchUntil(gateway: TestGateway, query: string, isThere: (answer: Answer) => boolean): Promise<Answer> {
  const end = Date.now() + 120_000;
  for (;;) {
    const answer = await search(gateway, query);
    if (isThere(answer)) return answer;
    if (Date.now() > end) assert.fail(`still ${JSON.stringify(answer)}`);
    await sleep(50);
  }
}

async function statusOf(gateway: TestGateway): Promise<Status> {
  const { stdout, stderr } = await openclaw(gateway.home, ["memory", "status", "--json"]);
  const [row] = JSON.parse(stdout || stderr) as { status: Status }[];
  assert.ok(row !== undefined, stdout + stderr);
  return row.status;
}

const pathsOf = ({ results }: Answer): string[] => results.map(({ path }) => path);
const remote = ({ url }: FakeServer) => ({
  provider: "openai",
  model: "embed-1",
  remote: { baseUrl: url, apiKey: key },
});

test("finds a note by its meaning and names provider and model", async () => {
  const server = await serve();
  const gateway = await start(remote(server));
  try {
    const answer = await searchUntil(gateway, "who will restore my automobile?", ({ results }) => results.length > 0);
    assert.equal(pathsOf(answer)[0], "memory/2026-04-02.md");
    assert.deepEqual([answer.provider, answer.model, answer.notes], ["openai", "embed-1", undefined]);
    assert.ok(server.requests.every(({ headers }) => headers["authorization"] === `Bearer ${key}`));
    const texts = server.requests.flatMap(({ body }) => body["input"] as string[]);
    assert.equal(texts.filter((text) => text.includes("Lentil soup")).length, 1, "each text is sent once");
  } finally {
    await dispose(gateway);
  }
});

test("finds a new note by meaning once it has a vector, without sending the other notes again", async () => {
  const server = await serve();
  const gateway = await start(remote(server));
  try {
    await searchUntil(gateway, "automobile", ({ results }) => results.length > 0);
    const before = server.requests.length;
    writeFileSync(join(gateway.workspace, "memory/2026-04-05.md"), "# Sunday\n\nThe kayak leaks at the stern.\n");
    await searchUntil(gateway, "who will fix the kayak?", ({ results }) =>
      results.some(({ path }) => path.endsWith("-05.md")),
    );
    await sleep(200);
    const sent = server.requests.slice(before).flatMap(({ body }) => body["input"] as string[]);
    assert.deepEqual(
      sent.filter((text) => text.startsWith("#")),
      ["# Sunday\n\nThe kayak leaks at the stern."],
    );
  } finally {
    await dispose(gateway);
  }
});

test("answers by text search and gives the reason when the provider is down", async () => {
  const server = await serve();
  await server.close();
  const gateway = await start(remote(server));
  try {
    assert.equal(pathsOf(await search(gateway, "lentil soup"))[0], "memory/2026-04-03.md");
    const answer = await searchUntil(gateway, "lentil soup", ({ notes: said = [] }) =>
      said.some((note) => note.startsWith("text search only, without semantic search: openai: no connection")),
    );
    assert.deepEqual([pathsOf(answer)[0], answer.provider], ["memory/2026-04-03.md", "none"]);
  } finally {
    await dispose(gateway);
  }
});

test("reports a rejected key once in the log and in the answer, without showing the key", async () => {
  const server = await serve({ key: "another" });
  const gateway = await start(remote(server));
  try {
    const answer = await searchUntil(gateway, "lentil soup", ({ notes: said = [] }) =>
      said.some((note) => note.includes("the key was not accepted")),
    );
    assert.equal(pathsOf(answer)[0], "memory/2026-04-03.md");
    assert.doesNotMatch(JSON.stringify(answer) + gateway.output(), new RegExp(key));
  } finally {
    await dispose(gateway);
  }
});

test("uses the key of models.providers and switches to the configured fallback with a reason", async () => {
  const down = await serve({ instead: () => json(401, { error: { message: "who are you" } }) });
  const spare = await startFakeEmbeddings("ollama", { synonyms });
  servers.push(spare);
  const gateway = await start(
    { provider: "openai", fallback: "ollama" },
    {
      models: {
        providers: {
          openai: { baseUrl: down.url, apiKey: key, models: [] },
          ollama: { baseUrl: `${spare.url}/v1`, models: [] },
        },
      },
    },
  );
  try {
    const answer = await searchUntil(
      gateway,
      "who will restore my automobile?",
      ({ results, provider }) => provider === "ollama" && results.length > 0,
    );
    assert.equal(pathsOf(answer)[0], "memory/2026-04-02.md");
    assert.equal(answer.fallback?.from, "openai");
    assert.match(answer.fallback?.reason ?? "", /the key was not accepted/);
    assert.equal(down.requests[0]?.headers["authorization"], `Bearer ${key}`);
  } finally {
    await dispose(gateway);
  }
});

test("continues embedding after kill -9 without losing vectors", async () => {
  let served = 0;
  const server = await serve({ instead: () => ((served += 1) > 3 && served < 1000 ? "hang" : undefined) });
  const first = await start(remote(server));
  for (let day = 1; day <= 300; day += 1)
    writeFileSync(
      join(first.workspace, `memory/day-${day}.md`),
      `# Day ${day}\n\nWalked ${day} kilometres along the coast.\n`,
    );
  const wanted = Object.keys(notes).length + 300;
  await search(first, "coast");
  while (served < 4) await sleep(20);
  await first.stop("SIGKILL");
  const done = server.requests
    .slice(0, 3)
    .flatMap(({ body }) => body["input"] as string[])
    .filter((text) => text.startsWith("#"));
  assert.ok(done.length > 0 && done.length < wanted);
  served = 1000;
  const before = server.requests.length;
  const second = await start(remote(server), { home: first.home });
  try {
    await search(second, "coast");
    const sent = (): string[] =>
      server.requests
        .slice(before)
        .flatMap(({ body }) => body["input"] as string[])
        .filter((text) => text.startsWith("#"));
    await until(
      () => sent().length,
      (count) => count >= wanted - done.length,
      120_000,
    );
    await sleep(200);
    assert.equal(new Set([...done, ...sent()]).size, wanted);
    assert.equal(sent().length, wanted - done.length, "what was done before is not sent again");
  } finally {
    await dispose(second);
  }
});

test("computes new vectors for another model and reuses the old ones when switching back", async () => {
  const server = await serve();
  const first = await start(remote(server));
  await searchUntil(first, "automobile", ({ results }) => results.length > 0);
  await first.stop();
  const second = await start({ ...remote(server), model: "embed-2" }, { home: first.home });
  const { model } = await searchUntil(second, "automobile", ({ results }) => results.length > 0);
  assert.equal(model, "embed-2");
  await second.stop();
  const before = server.requests.length;
  const third = await start(remote(server), { home: first.home });
  try {
    await searchUntil(third, "automobile", ({ results }) => results.length > 0);
    const passages = server.requests
      .slice(before)
      .filter(({ body }) => (body["input"] as string[]).some((text) => text.startsWith("#")));
    assert.deepEqual(passages, []);
  } finally {
    await dispose(third);
  }
});

const paths = { home: "/", state: "/nowhere", config: "/nowhere", product: "openclaw", profile: undefined } as const;
const skip =
  findExtra(paths) === undefined
    ? "the local model is not installed"
    : process.platform === "linux"
      ? false
      : "reads /proc";

test(
  "finds a note with the local model without any key, in a separate process that ends with the gateway",
  { skip },
  async () => {
    const gateway = await start({});
    try {
      assert.deepEqual(childrenOf(gateway.pid), []);
      const before = residentKb(gateway.pid);
      const answer = await searchUntil(
        gateway,
        "where is my automobile being fixed?",
        ({ results, provider }) => provider === "local" && results.length > 0,
      );
      assert.equal(pathsOf(answer)[0], "memory/2026-04-02.md");
      assert.equal(answer.model, "all-minilm-l6-v2");
      const [child] = childrenOf(gateway.pid);
      assert.ok(child !== undefined);
      assert.ok(residentKb(gateway.pid) - before < residentKb(child), "the model is not in the gateway's memory");
      await gateway.stop();
      for (let tries = 0; tries < 1200 && isAlive(child); tries += 1) await sleep(50);
      assert.equal(isAlive(child), false);
      const status = await statusOf(gateway);
      assert.deepEqual(
        [status.provider, status.vector.ready, status.vector.missing, status.vector.dimensions],
        ["local", 3, 0, 384],
      );
    } finally {
      await dispose(gateway);
    }
  },
);

function childrenOf(pid: number): number[] {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  return rows.flatMap((row) => {
    const [own, parent, ...words] = row.trim().split(/\s+/);
    return Number(parent) === pid && words.join(" ").includes("worker") ? [Number(own)] : [];
  });
}

function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
