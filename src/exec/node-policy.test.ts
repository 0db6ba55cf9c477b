// Our rules against the node's own file: the stricter one applies, and an unreadable file allows nothing.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";

import { judgeNodeRun, type NodeRules } from "./node-policy.ts";
import { EXEC_ASK, EXEC_SECURITY } from "./route.ts";

const ours = (security: NodeRules["security"], ask: NodeRules["ask"] = "on-miss"): NodeRules => ({ security, ask });
const silent = { version: 1 };
const says = (rules: object): object => ({ version: 1, defaults: rules });

describe("what a node may run", () => {
  const rows: readonly [string, NodeRules, unknown, string][] = [
    ["our deny holds", ours("deny"), says({ security: "full", ask: "off" }), "deny"],
    ["its deny holds", ours("full", "off"), says({ security: "deny" }), "deny"],
    ["our always asks", ours("full", "always"), says({ security: "full", ask: "off" }), "ask"],
    ["its always asks", ours("full", "off"), says({ ask: "always" }), "ask"],
    ["full here, silence there: allowed by our rules", ours("full", "off"), silent, "policy"],
    ["full here, no file to read: the node decides", ours("full", "off"), undefined, "node"],
    ["full on both sides", ours("full", "off"), says({ security: "full" }), "node"],
    ["full here, a list there: the node decides", ours("full", "off"), says({ security: "allowlist" }), "node"],
    ["a list here, silence there: the node decides", ours("allowlist"), silent, "node"],
    ["a list here, full there: a person is asked", ours("allowlist"), says({ security: "full" }), "ask"],
    [
      "a list here, full there, nobody to ask",
      ours("allowlist", "off"),
      says({ security: "full", ask: "off" }),
      "deny",
    ],
    ["a word nobody knows is the strictest", ours("full", "off"), says({ security: "sure" }), "deny"],
    ["the same for ask", ours("full", "off"), says({ security: "full", ask: "sure" }), "ask"],
    [
      "the agent's word stands over the star's and the default's",
      ours("full", "off"),
      {
        version: 1,
        defaults: { security: "full" },
        agents: { "*": { security: "allowlist" }, main: { security: "deny" } },
      },
      "deny",
    ],
    [
      "null is no word: the next one counts, as on the node itself",
      ours("full", "off"),
      { version: 1, defaults: { security: "deny" }, agents: { main: { security: null } } },
      "deny",
    ],
    [
      "the star's over the default's",
      ours("full", "off"),
      {
        version: 1,
        defaults: { security: "full" },
        agents: { "*": { security: "deny" }, other: { security: "full" } },
      },
      "deny",
    ],
  ];
  for (const [title, rules, file, verdict] of rows)
    test(title, () => assert.equal(judgeNodeRun(rules, file, "main").verdict, verdict));

  test("is never looser than either side", () => {
    const security = fc.constantFrom(...EXEC_SECURITY);
    const ask = fc.constantFrom(...EXEC_ASK);
    const rules = fc.record({ security, ask });
    fc.assert(
      fc.property(rules, rules, (here, there) => {
        const result = judgeNodeRun(here, says(there), "main");
        for (const side of [here, there]) {
          assert.ok(EXEC_SECURITY.indexOf(result.security) <= EXEC_SECURITY.indexOf(side.security));
          assert.ok(EXEC_ASK.indexOf(result.ask) >= EXEC_ASK.indexOf(side.ask));
          if (side.security === "deny") assert.equal(result.verdict, "deny");
          else if (side.ask === "always") assert.ok(result.verdict === "ask" || result.verdict === "deny");
        }
        assert.notEqual(result.verdict, "policy", "a node that has its say is never told it is approved");
      }),
    );
  });
});
