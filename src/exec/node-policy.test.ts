// Our rules and the node's own file: the stricter one applies, and an unreadable file allows nothing.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";

import { judgeNodeRun, type NodeRules } from "./node-policy.ts";
import { EXEC_ASK, EXEC_SECURITY } from "./route.ts";

const ours = (security: NodeRules["security"], ask: NodeRules["ask"] = "on-miss"): NodeRules => ({ security, ask });
const noRules = { version: 1 };
const rulesFile = (rules: object): object => ({ version: 1, defaults: rules });

describe("a run on a node", () => {
  const rows: readonly [string, NodeRules, unknown, string][] = [
    ["our deny applies", ours("deny"), rulesFile({ security: "full", ask: "off" }), "deny"],
    ["its deny applies", ours("full", "off"), rulesFile({ security: "deny" }), "deny"],
    ["our always asks", ours("full", "always"), rulesFile({ security: "full", ask: "off" }), "ask"],
    ["its always asks", ours("full", "off"), rulesFile({ ask: "always" }), "ask"],
    ["full here, no rule there: allowed by our rules", ours("full", "off"), noRules, "policy"],
    ["full here, no readable file there: the node decides", ours("full", "off"), undefined, "node"],
    ["full on both sides", ours("full", "off"), rulesFile({ security: "full" }), "node"],
    [
      "full here, an allowlist there: the node decides",
      ours("full", "off"),
      rulesFile({ security: "allowlist" }),
      "node",
    ],
    ["an allowlist here, no rule there: the node decides", ours("allowlist"), noRules, "node"],
    ["an allowlist here, full there: the owner is asked", ours("allowlist"), rulesFile({ security: "full" }), "ask"],
    [
      "an allowlist here, full there, no person to ask",
      ours("allowlist", "off"),
      rulesFile({ security: "full", ask: "off" }),
      "deny",
    ],
    ["an unknown security counts as the strictest", ours("full", "off"), rulesFile({ security: "sure" }), "deny"],
    [
      "an unknown ask counts as the strictest",
      ours("full", "off"),
      rulesFile({ security: "full", ask: "sure" }),
      "ask",
    ],
    [
      "the agent's rule overrides those of * and defaults",
      ours("full", "off"),
      {
        version: 1,
        defaults: { security: "full" },
        agents: { "*": { security: "allowlist" }, main: { security: "deny" } },
      },
      "deny",
    ],
    [
      "null counts as not set, as on the node itself",
      ours("full", "off"),
      { version: 1, defaults: { security: "deny" }, agents: { main: { security: null } } },
      "deny",
    ],
    [
      "the rule of * overrides the default",
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
        const result = judgeNodeRun(here, rulesFile(there), "main");
        for (const side of [here, there]) {
          assert.ok(EXEC_SECURITY.indexOf(result.security) <= EXEC_SECURITY.indexOf(side.security));
          assert.ok(EXEC_ASK.indexOf(result.ask) >= EXEC_ASK.indexOf(side.ask));
          if (side.security === "deny") assert.equal(result.verdict, "deny");
          else if (side.ask === "always") assert.ok(result.verdict === "ask" || result.verdict === "deny");
        }
        assert.notEqual(result.verdict, "policy", "a node with its own rules is never sent an approval by policy");
      }),
    );
  });
});
