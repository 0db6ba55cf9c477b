// Properties of every command line: quoting round-trips, and no rewritten attack runs.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";

import { OpenClawError } from "../../core/error.ts";
import { attackCases } from "./attack.cases.ts";
import { analyze, type AnalyzedSegment } from "./analyze.ts";
import { decide, openPolicyFixture } from "./fixture.cases.ts";
import { mutated, mutationChain } from "./mutants.cases.ts";
import { quoted } from "./preview.ts";

const rounds = Number(process.env["OPENCLAW_PROPERTY_RUNS"] ?? 500);
const fixture = openPolicyFixture();
const { context, root } = fixture;
after(() => fixture.close());

const word = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .filter((text) => !text.includes("\0") && !text.includes("\r"));
const shellish = fc.string({
  unit: fc.constantFrom(...Array.from("ab'\"\\$`*?[]{}()<>|&;#~! \t\n=-/.,^%@+:")),
  maxLength: 16,
});
const argument = fc.oneof(word, shellish);

describe("quoting", () => {
  it("single quotes preserve every argument", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(argument, { maxLength: 6 }), async (args) => {
        const analysis = await analyze(
          ["echo", ...args].map((text) => `'${text.replaceAll("'", "'\\''")}'`).join(" "),
          context,
        );
        assert.deepEqual(analysis.segments[0]?.argv, ["echo", ...args]);
        assert.equal(analysis.kind, "pipeline");
      }),
      { numRuns: rounds },
    );
  });

  it("the text on the card parses to the same program and arguments", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(argument, { maxLength: 6 }), async (args) => {
        const analysis = await analyze(["echo", ...args].map(quoted).join(" "), context);
        assert.deepEqual(analysis.segments[0]?.argv, ["echo", ...args]);
      }),
      { numRuns: rounds },
    );
  });

  it("double quotes and backslashes preserve every argument", async () => {
    const double = (text: string): string => `"${text.replace(/["\\$`]/g, "\\$&")}"`;
    const slashed = (text: string): string =>
      text === "" ? "''" : Array.from(text, (char) => (char === "\n" ? "'\n'" : `\\${char}`)).join("");
    await fc.assert(
      fc.asyncProperty(shellish, fc.boolean(), async (text, useDouble) => {
        const analysis = await analyze(`echo ${useDouble ? double(text) : slashed(text)}`, context);
        assert.deepEqual(analysis.segments[0]?.argv, ["echo", text]);
      }),
      { numRuns: rounds },
    );
  });

  it("any text is analyzed or rejected with exec.bad-command", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(shellish, fc.string({ unit: "binary", maxLength: 40 })), async (text) => {
        await analyze(`echo ${text}`, context).catch((error: unknown) => {
          assert.ok(error instanceof OpenClawError && error.code === "exec.bad-command");
        });
      }),
      { numRuns: rounds },
    );
  });
});

describe("rewritten attacks", () => {
  const cases = attackCases(fixture).filter(({ expect, command }) => expect !== "ask" && command.length < 400);

  it("never run, or leave the canary untouched", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(cases.length - 1), mutationChain, async (index, chain) => {
        const attack = cases[index];
        assert.ok(attack);
        const command = mutated(attack.command, chain);
        const passed = await ran(command, attack.rules);
        // A line that passes is started as it was read and must not touch the canary.
        if (passed !== undefined) start(passed.segments, passed.cwd, passed.env);
        assert.equal(existsSync(join(root, "canary")), false, `${attack.id}: ${JSON.stringify(command)}`);
      }),
      { numRuns: rounds },
    );
  });

  async function ran(
    command: string,
    rules: Parameters<typeof decide>[2],
  ): Promise<{ segments: readonly AnalyzedSegment[]; cwd: string; env: Readonly<Record<string, string>> } | undefined> {
    try {
      const { analysis, judgment } = await decide(command, context, rules);
      return judgment.outcome === "run"
        ? { segments: analysis.segments, cwd: analysis.cwd, env: judgment.env }
        : undefined;
    } catch (error) {
      if (error instanceof OpenClawError) return undefined;
      throw error;
    }
  }

  function start(segments: readonly AnalyzedSegment[], cwd: string, env: Readonly<Record<string, string>>): void {
    let input = "";
    for (const { argv, program, env: own } of segments) {
      const done = spawnSync(program.path, argv.slice(1), {
        cwd,
        env: { PATH: context.path.join(":"), ...env, ...own },
        input,
        timeout: 5000,
        encoding: "utf8",
      });
      input = done.stdout ?? "";
      assert.equal(input.includes("S3CRET-CANARY"), false);
    }
  }
});
