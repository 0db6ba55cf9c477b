// Text and semantic search over a real index: no result of either one is lost.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { parseAgentId } from "../../core/names.ts";
import { openEngine } from "../engine.ts";
import { toVector } from "./vector.ts";

const folder = mkdtempSync(join(tmpdir(), "hybrid-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a note with the exact words ranks first even when a model rates all texts as similar", async () => {
  mkdirSync(join(folder, "memory"), { recursive: true });
  for (let day = 1; day <= 40; day += 1) writeFileSync(join(folder, "memory", `${day}.md`), `Walked ${day} miles.\n`);
  writeFileSync(join(folder, "memory", "ticket.md"), "The ticket is QX7741.\n");
  const engine = openEngine(
    {
      agent: parseAgentId("main"),
      file: join(folder, "index.sqlite"),
      workspace: folder,
      extraPaths: [],
      chunking: { tokens: 400, overlap: 80 },
      watch: false,
      debounceMs: 10,
      intervalMs: 0,
    },
    () => undefined,
  );
  await engine.sync({});
  const vectors = { fingerprint: "fake", useExtension: true, maxCached: 10 };
  const rows = engine.pending(vectors, 100);
  // The ticket is slightly less similar to the query than everything else, and everything is similar.
  const at = (text: string): number => (text.includes("ticket") ? 0.9 : 0.95 + Number(/\d+/.exec(text)?.[0]) / 1000);
  engine.put(
    vectors,
    rows.map(({ hash, text }) => ({ hash, vector: toVector([at(text), Math.sqrt(1 - at(text) ** 2)]) })),
  );
  const { hits } = await engine.search({
    query: "QX7741",
    limit: 5,
    audience: { withoutPaths: [], sources: ["memory"] },
    fresh: false,
    vector: toVector([1, 0]),
    vectors,
    weights: { text: 0.3, vector: 0.7 },
  });
  assert.equal(hits[0]?.path, "memory/ticket.md");
  // The limit applies to each search: one hit by words and the five nearest by meaning.
  assert.equal(hits.length, 6);
  await engine.close();
});
