// The tables of test/conformance/policy.json, and the answers recorded from the published release.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { allowedTools, decideAll } from "./decide.ts";
import { coreTools } from "./groups.ts";
import { subjectOf, universeOf, wf } from "./policy.cases.ts";
import type { PluginTools, PolicyConfig, PolicyInput } from "./shape.ts";
import { listWarnings } from "./warnings.ts";

interface Case {
  readonly name: string;
  readonly config: PolicyConfig;
  readonly plugins?: readonly PluginTools[];
  readonly subject?: Partial<PolicyInput>;
  readonly expect: readonly string[];
  readonly warned?: readonly string[];
}

const root = new URL("../../../", import.meta.url);
const table = JSON.parse(readFileSync(new URL("test/conformance/policy.json", root), "utf8")) as { cases: Case[] };

for (const { name, config, plugins = [wf], subject = {}, expect, warned = [] } of table.cases) {
  void test(name, () => {
    const universe = universeOf(plugins);
    const input = subjectOf(config, { universe, ...subject });
    assert.deepEqual(allowedTools(input).toSorted(), spelledOut(expect));
    const records = [...decideAll(input)].flatMap(([tool, { allowed }]) => (allowed ? [tool] : []));
    assert.deepEqual(records, allowedTools(input));
    assert.deepEqual(
      listWarnings(config, universe).map(({ path }) => path),
      warned,
    );
  });
}

/** `*` means the core tools and wf_run; `-name` removes one. */
function spelledOut(expect: readonly string[]): string[] {
  const names = new Set(expect.includes("*") ? [...coreTools.keys(), "wf_run"] : []);
  for (const word of expect) {
    if (word.startsWith("-")) names.delete(word.slice(1));
    else if (word !== "*") names.add(word);
  }
  return [...names].toSorted();
}

interface Vector {
  readonly id: string;
  readonly tools: NonNullable<PolicyConfig["tools"]>;
  readonly agentTools: object | null;
  readonly offered: Readonly<Record<"main" | "support" | "subagentOfMain", readonly string[]>>;
  readonly quirk?: string;
}

/**
 * Deliberate differences, besides the vectors marked as quirks. In the release, memory tools come from a plugin, and
 * `image` and `apply_patch` are unknown while they cannot be used; here they are core names that are always known,
 * so a list that names only them restricts.
 */
const differences: Readonly<Record<string, Partial<Vector["offered"]>>> = {
  "POLVEC-040": { main: [], support: [] },
  "POLVEC-044": { main: ["memory_get", "memory_search"], subagentOfMain: [] },
  "POLVEC-067": { main: [], support: [] },
  "POLVEC-070": { main: ["memory_search"], subagentOfMain: [] },
  "POLVEC-091": { main: [], support: [], subagentOfMain: [] },
};

const recorded = new URL("test/conformance/policy-vectors.json", root);

void test("gives the answers of the published release for 100 generated policies", () => {
  const { vectors } = JSON.parse(readFileSync(recorded, "utf8")) as { vectors: Vector[] };
  const compared = vectors.filter(({ quirk }) => quirk === undefined);
  for (const vector of compared) {
    const expected = { ...vector.offered, ...differences[vector.id] };
    for (const who of ["main", "support", "subagentOfMain"] as const) {
      assert.deepEqual(offeredTo(who, vector), expected[who].toSorted(), `${vector.id} ${who}`);
    }
  }
  assert.deepEqual({ all: vectors.length, compared: compared.length }, { all: 100, compared: 95 });
});

/** The release also offers `tts`, and neither `image` nor `apply_patch` in that setup. */
function offeredTo(who: keyof Vector["offered"], { tools, agentTools }: Vector): string[] {
  const support = { id: "support", ...(agentTools === null ? {} : { tools: agentTools }) };
  const offered = allowedTools({
    config: { tools, agents: { list: [{ id: "main" }, support] } },
    universe: { core: new Set([...coreTools.keys(), "tts"]), plugins: [] },
    agentId: who === "support" ? "support" : "main",
    model: "fake/fake-1",
    sandboxed: false,
    subagent: who === "subagentOfMain",
  });
  return offered.filter((name) => name !== "image" && name !== "apply_patch").toSorted();
}
