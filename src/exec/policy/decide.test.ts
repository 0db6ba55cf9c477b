// The decision table, the stricter of two rules, allowlist patterns, and decisions when no person can be asked.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { analyze } from "./analyze.ts";
import { literalPattern, matchesPath } from "./allowlist.ts";
import type { Ask, Security } from "../route.ts";
import { effectivePolicy, type EffectivePolicy } from "./effective.ts";
import { decide, openPolicyFixture } from "./fixture.cases.ts";
import { judge, judgeUnanswerable } from "./decide.ts";

const fixture = openPolicyFixture();
const { context } = fixture;
after(() => fixture.close());

const policyOf = (security: Security, ask: Ask, askFallback: Security = "deny"): EffectivePolicy =>
  effectivePolicy(
    {},
    {
      version: 1,
      defaults: { security, ask, askFallback },
      agents: { "*": { allowlist: [{ pattern: "/usr/bin/uname" }] } },
    },
    "main",
  );

describe("decision table", () => {
  const rows: readonly [security: Security, ask: Ask, match: boolean, outcome: string][] = [
    ["deny", "off", true, "deny"],
    ["deny", "on-miss", false, "deny"],
    ["deny", "always", true, "deny"],
    ["full", "off", false, "run"],
    ["full", "on-miss", false, "run"],
    ["full", "always", true, "ask"],
    ["allowlist", "off", true, "run"],
    ["allowlist", "off", false, "deny"],
    ["allowlist", "on-miss", true, "run"],
    ["allowlist", "on-miss", false, "ask"],
    ["allowlist", "always", true, "ask"],
    ["allowlist", "always", false, "ask"],
  ];
  for (const [security, ask, match, outcome] of rows) {
    it(`${security}, ${ask}, ${match ? "match" : "miss"}: ${outcome}`, async () => {
      const analysis = await analyze(match ? "uname -a" : "id", context);
      assert.equal(judge({ analysis, policy: policyOf(security, ask), safeBins: [] }).outcome, outcome);
    });
  }

  it("uses askFallback when no person can be asked, and denies when it is not set", async () => {
    const outcomes = await Promise.all(
      [
        { command: "id", fallback: "deny" },
        { command: "id", fallback: "allowlist" },
        { command: "uname", fallback: "allowlist" },
        { command: "id", fallback: "full" },
      ].map(async ({ command, fallback }) => {
        const policy = policyOf("allowlist", "always", fallback as Security);
        return judgeUnanswerable({ analysis: await analyze(command, context), policy, safeBins: [] }).outcome;
      }),
    );
    assert.deepEqual(outcomes, ["deny", "deny", "run", "run"]);
    assert.equal(effectivePolicy({}, { version: 1 }, "main").askFallback, "deny");
  });
});

describe("a pipeline with one entry for uname", () => {
  const rows: readonly [command: string, outcome: string][] = [
    ["uname -a", "run"],
    ["uname | head -n 1", "run"],
    ["uname | tee f", "deny"],
    ["uname > f", "deny"],
    ["uname $(id)", "deny"],
    ["uname '$(id)'", "run"],
    ['uname "$(id)"', "deny"],
    ["uname | head -n 1 f.txt", "deny"],
    ["uname && uname", "deny"],
  ];
  for (const [command, outcome] of rows) {
    it(`${command}: ${outcome}`, async () => {
      const { judgment } = await decide(command, context, { allowlist: ["/usr/bin/uname"] });
      assert.equal(judgment.outcome, outcome);
    });
  }

  it("opens no pager and no editor in an unattended run", async () => {
    const { judgment } = await decide("uname", context, { allowlist: ["/usr/bin/uname"] });
    assert.equal(judgment.env["GIT_PAGER"], "cat");
    assert.equal(judgment.env["LESSSECURE"], "1");
  });
});

describe("patterns", () => {
  const home = "/home/u";
  const rows: readonly [pattern: string, path: string, match: boolean][] = [
    ["/opt/homebrew/bin/rg", "/opt/homebrew/bin/rg", true],
    ["/opt/homebrew/bin/rg", "/opt/homebrew/bin/RG", false],
    ["~/.local/bin/*", "/home/u/.local/bin/uv", true],
    ["~/.local/bin/*", "/home/u/.local/bin/sub/x", false],
    ["~/Projects/**/bin/tool", "/home/u/Projects/a/b/bin/tool", true],
    ["~/Projects/**/bin/tool", "/home/u/Projects/bin/tool", true],
    ["tool", "/usr/bin/tool", false],
    ["*", "/usr/bin/tool", false],
    ["**", "/usr/bin/tool", false],
    ["/**", "/usr/bin/tool", true],
    ["/opt/?/rg", "/opt/x/rg", true],
    ["/opt/?/rg", "/opt///rg", false],
    ["/opt/*/rg", "/opt/x/y/rg", false],
    ["/opt/x*/rg", "/opt/x/y/rg", false],
    ["/opt/.x/*", "/opt/.x/.y", true],
    ["!/opt/x", "/opt/y", false],
    ["/opt/{a,b}", "/opt/a", false],
    ["/opt/@(a)", "/opt/a", false],
    ["/usr/bin/tool ", "/usr/bin/tool", false],
    ["/usr/bin/tool", "/usr/bin/tool ", false],
  ];
  for (const [pattern, path, match] of rows)
    it(`${pattern} ${match ? "covers" : "does not cover"} ${path}`, () =>
      assert.equal(matchesPath(pattern, path, home), match));

  it("an escaped path matches only itself", () => {
    for (const path of ["/a/[b]/c*", "/a/(x)", "/a/{b,c}", "/a/b?", "/a/!x", "/a\\b/c"]) {
      assert.equal(matchesPath(literalPattern(path), path, home), true, path);
    }
    assert.equal(matchesPath(literalPattern("/a/b?"), "/a/bc", home), false);
  });
});

describe("entries that bind more than a path", () => {
  const run = async (command: string, entry: Record<string, unknown>): Promise<string> =>
    (await decide(command, context, { allowlist: [{ pattern: "/usr/bin/uname", ...entry }] })).judgment.outcome;

  it("match argPattern against all arguments", async () => {
    assert.deepEqual(
      [
        await run("uname -a", { argPattern: "-a" }),
        await run("uname -a -r", { argPattern: "-a" }),
        await run("uname -a", { argPattern: "^-[ar]$" }),
        await run("uname -a", { argPattern: "-r|-a" }),
        await run("uname", { argPattern: "" }),
        await run("uname -a", { argPattern: "" }),
        await run("uname -a", { argPattern: "(" }),
        await run(`uname ${"a".repeat(40)}!`, { argPattern: "(a+)+" }),
      ],
      ["run", "deny", "run", "run", "run", "deny", "deny", "deny"],
    );
  });

  it("match args and cwd exactly", async () => {
    assert.deepEqual(
      [
        await run("uname -a", { args: ["-a"] }),
        await run("uname '-a '", { args: ["-a"] }),
        await run("uname -a -r", { args: ["-a"] }),
        await run("uname -a", { args: ["-a"], cwd: fixture.workspace }),
        await run("cd src && uname -a", { args: ["-a"], cwd: fixture.workspace }),
        await run("uname -a", { cwd: fixture.out }),
      ],
      ["run", "deny", "deny", "run", "deny", "deny"],
    );
  });

  it("treat /bin and /usr/bin as one folder where the system does", async () => {
    assert.equal((await decide("ls", context, { allowlist: ["/bin/ls"] })).judgment.outcome, "run");
    assert.equal((await decide("/bin/ls", context, { allowlist: ["/usr/bin/ls"] })).judgment.outcome, "run");
  });
});

describe("effective policy", () => {
  it("is the stricter of both sides, per field", () => {
    const of = (asked: { security?: Security; ask?: Ask }, defaults: Record<string, string>): string => {
      const { security, ask } = effectivePolicy(asked, { version: 1, defaults }, "main");
      return `${security} ${ask}`;
    };
    assert.deepEqual(
      [
        of({}, {}),
        of({ security: "full", ask: "off" }, {}),
        of({ security: "full", ask: "off" }, { security: "deny" }),
        of({ security: "full", ask: "off" }, { security: "allowlist", ask: "on-miss" }),
        of({ security: "deny", ask: "always" }, { security: "full", ask: "off" }),
        of({ security: "full" }, { security: "sometimes", ask: "maybe" }),
      ],
      ["allowlist on-miss", "full off", "deny off", "allowlist on-miss", "deny always", "deny always"],
    );
  });

  it("prefers agent over * over defaults, and joins the entries of * and of the agent", () => {
    const file = {
      version: 1 as const,
      defaults: { security: "full", ask: "off", autoAllowSkills: true },
      agents: {
        "*": { ask: "always", allowlist: [{ pattern: "/a/b" }] },
        main: { security: "deny", allowlist: [{ pattern: "/c/d", id: "x" }] },
      },
    };
    const { allowlist, ...rest } = effectivePolicy({}, file, "main");
    assert.deepEqual(rest, {
      security: "deny",
      ask: "always",
      askFallback: "deny",
      autoAllowSkills: true,
      sources: {
        security: "exec-approvals.json agents.main.security",
        ask: "exec-approvals.json agents.*.ask",
        askFallback: "preset",
      },
    });
    assert.deepEqual(
      allowlist.map(({ agent, index, pattern }) => ({ agent, index, pattern })),
      [
        { agent: "*", index: 0, pattern: "/a/b" },
        { agent: "main", index: 0, pattern: "/c/d" },
      ],
    );
    assert.equal(effectivePolicy({}, file, "toString").security, "full");
  });
});

it("allows programs of skills by name only, and only when enabled", async () => {
  const outcome = async (command: string, autoAllowSkills: boolean): Promise<string> => {
    const policy = effectivePolicy({ ask: "off" }, { version: 1, defaults: { autoAllowSkills } }, "main");
    return judge({ analysis: await analyze(command, context), policy, safeBins: [], skillBins: ["uname", "bash"] })
      .outcome;
  };
  assert.deepEqual(
    [
      await outcome("uname", true),
      await outcome("nice uname", true),
      await outcome("uname", false),
      await outcome("/usr/bin/uname", true),
      await outcome("bash -c id", true),
    ],
    ["run", "run", "deny", "deny", "deny"],
  );
});
