// What must hold for every command line: quoting comes back as it was, and no rewriting of an attack makes it run.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";

import { OpenClawError } from "../../core/error.ts";
import { attackCases } from "./attack.cases.ts";
import { analyse, type AnalysedSegment } from "./analyse.ts";
import { decide, openGround } from "./fixture.cases.ts";
import { mutated, mutationChain } from "./mutants.cases.ts";
import { quoted } from "./preview.ts";

const rounds = Number(process.env["OPENCLAW_PROPERTY_RUNS"] ?? 500);
const ground = openGround();
const { place, root } = ground;
after(() => ground.close());

const word = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .filter((text) => !text.includes("\0") && !text.includes("\r"));
const shellish = fc.string({
  unit: fc.constantFrom(...Array.from("ab'\"\\$`*?[]{}()<>|&;#~! \t\n=-/.,^%@+:")),
  maxLength: 16,
});
const argument = fc.oneof(word, shellish);

describe("quoting", () => {
  it("single quotes bring every argument back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(argument, { maxLength: 6 }), async (args) => {
        const analysis = await analyse(
          ["echo", ...args].map((text) => `'${text.replaceAll("'", "'\\''")}'`).join(" "),
          place,
        );
        assert.deepEqual(analysis.segments[0]?.argv, ["echo", ...args]);
        assert.equal(analysis.kind, "pipeline");
      }),
      { numRuns: rounds },
    );
  });

  it("what the card shows is read back as the same program and arguments", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(argument, { maxLength: 6 }), async (args) => {
        const analysis = await analyse(["echo", ...args].map(quoted).join(" "), place);
        assert.deepEqual(analysis.segments[0]?.argv, ["echo", ...args]);
      }),
      { numRuns: rounds },
    );
  });

  it("double quotes and backslashes too", async () => {
    const double = (text: string): string => `"${text.replace(/["\\$`]/g, "\\$&")}"`;
    const slashed = (text: string): string =>
      text === "" ? "''" : Array.from(text, (char) => (char === "\n" ? "'\n'" : `\\${char}`)).join("");
    await fc.assert(
      fc.asyncProperty(shellish, fc.boolean(), async (text, useDouble) => {
        const analysis = await analyse(`echo ${useDouble ? double(text) : slashed(text)}`, place);
        assert.deepEqual(analysis.segments[0]?.argv, ["echo", text]);
      }),
      { numRuns: rounds },
    );
  });

  it("no text at all makes the reading fail otherwise than as it says", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(shellish, fc.string({ unit: "binary", maxLength: 40 })), async (text) => {
        await analyse(`echo ${text}`, place).catch((error: unknown) => {
          assert.ok(error instanceof OpenClawError && error.code === "exec.bad-command");
        });
      }),
      { numRuns: rounds },
    );
  });
});

describe("rewritten attacks", () => {
  const cases = attackCases(ground).filter(({ expect, command }) => expect !== "ask" && command.length < 400);

  it("never run, or run without the canary", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(cases.length - 1), mutationChain, async (index, chain) => {
        const attack = cases[index];
        assert.ok(attack);
        const command = mutated(attack.command, chain);
        const passed = await ran(command, attack.rules);
        // What passes must be harmless: it is started as it was read, and the canary must not be touched.
        if (passed !== undefined) start(passed.segments, passed.cwd, passed.env);
        assert.equal(existsSync(join(root, "canary")), false, `${attack.id}: ${JSON.stringify(command)}`);
      }),
      { numRuns: rounds },
    );
  });

  async function ran(
    command: string,
    rules: Parameters<typeof decide>[2],
  ): Promise<{ segments: readonly AnalysedSegment[]; cwd: string; env: Readonly<Record<string, string>> } | undefined> {
    try {
      const { analysis, judgement } = await decide(command, place, rules);
      return judgement.outcome === "run"
        ? { segments: analysis.segments, cwd: analysis.cwd, env: judgement.env }
        : undefined;
    } catch (error) {
      if (error instanceof OpenClawError) return undefined;
      throw error;
    }
  }

  function start(segments: readonly AnalysedSegment[], cwd: string, env: Readonly<Record<string, string>>): void {
    let input = "";
    for (const { argv, program, env: own } of segments) {
      const done = spawnSync(program.path, argv.slice(1), {
        cwd,
        env: { PATH: place.path.join(":"), ...env, ...own },
        input,
        timeout: 5000,
        encoding: "utf8",
      });
      input = done.stdout ?? "";
      assert.equal(input.includes("S3CRET-CANARY"), false);
    }
  }
});
