// Contract cases of the dedupe table.
import assert from "node:assert/strict";
import { it } from "node:test";

import fc from "fast-check";

import type { Ground } from "./context.ts";

export function dedupeCases(ground: Ground): void {
  it("lets exactly one of many callers be the first, for any keys", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyWord, anyWord), { minLength: 1, maxLength: 20 }), async (claims) => {
        const round = `${Math.random()}`;
        const outcomes = await Promise.all(
          claims.map(([scope, key]) => ground.store().dedupe.claim(`${round}${scope}`, key, 1_000)),
        );
        const seen = new Set<string>();
        const expected = claims.map((claim) => {
          const isFresh = !seen.has(JSON.stringify(claim));
          seen.add(JSON.stringify(claim));
          return isFresh;
        });
        assert.deepEqual(
          outcomes.map((outcome) => outcome.fresh),
          expected,
        );
      }),
      { numRuns: 40 },
    );
  });

  it("returns the settled result to later callers, also over a restart", async () => {
    const { dedupe } = ground.store();
    assert.deepEqual(await dedupe.claim("chat", "k", 10), { fresh: true });
    assert.deepEqual(await dedupe.claim("chat", "k", 10), { fresh: false, result: undefined });
    await dedupe.settle("chat", "k", { status: "accepted" });
    await dedupe.settle("chat", "k", { status: "ok" });
    const store = await ground.restart();
    assert.deepEqual(await store.dedupe.claim("chat", "k", 10), { fresh: false, result: { status: "ok" } });
    assert.deepEqual(await store.dedupe.claim("agent", "k", 10), { fresh: true });
  });

  it("settles in one transaction with a key-value row", async () => {
    const { dedupe } = ground.store();
    await dedupe.claim("hook", "k", 10);
    await dedupe.settle("hook", "k", { status: 200 }, { space: "lines", key: "k", value: ["one"] });
    const store = await ground.restart();
    assert.deepEqual(await store.dedupe.claim("hook", "k", 10), { fresh: false, result: { status: 200 } });
    assert.deepEqual(await store.kv.get("lines", "k"), ["one"]);
  });

  it("prunes only expired keys", async () => {
    const { dedupe } = ground.store();
    for (const expiresAt of [5, 10, 15]) await dedupe.claim("s", `k${expiresAt}`, expiresAt);
    assert.equal(await dedupe.prune(10), 1);
    assert.deepEqual(await dedupe.claim("s", "k5", 99), { fresh: true });
    assert.equal((await dedupe.claim("s", "k10", 99)).fresh, false);
  });

  it("leaves a key free when it is settled without being claimed", async () => {
    const { dedupe } = ground.store();
    await dedupe.settle("s", "ghost", 1);
    assert.deepEqual(await dedupe.claim("s", "ghost", 10), { fresh: true });
  });
}

const anyWord = fc.constantFrom("a", "b", "A", "é", "a b", "", "a:b", "\u0000", "'");
