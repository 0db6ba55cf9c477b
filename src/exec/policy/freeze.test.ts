// Frozen plans: what they bind, how changes invalidate them, what "always" covers, what the card shows, what use records.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";

import { alwaysCovers } from "./always.ts";
import { analyze, type AnalysisContext } from "./analyze.ts";
import { effectivePolicy } from "./effective.ts";
import { readApprovals } from "./file.ts";
import { makePlan, planHash, verifyPlan } from "./freeze.ts";
import { openPolicyFixture } from "./fixture.cases.ts";
import { judge } from "./decide.ts";
import type { Plan } from "./plan.ts";
import { describePlan } from "./preview.ts";
import { recordUse } from "./record-use.ts";

const fixture = openPolicyFixture();
after(() => fixture.close());
const tools = join(fixture.root, "tools");
const early = join(fixture.root, "early");
const real = join(fixture.root, "real");
const linked = join(fixture.root, "linked");
const context: AnalysisContext = { ...fixture.context, path: [early, tools, ...fixture.context.path] };

function script(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

beforeEach(() => {
  for (const folder of [tools, early, real, linked]) rmSync(folder, { recursive: true, force: true });
  for (const folder of [tools, early, join(real, "inner")]) mkdirSync(folder, { recursive: true });
  script(join(tools, "tool"), "#!/bin/sh\necho one\n");
  writeFileSync(join(fixture.workspace, "deploy.sh"), "echo one\n");
  symlinkSync(real, linked);
});

async function frozen(command: string, at: Partial<AnalysisContext> = {}): Promise<Plan> {
  const where = { ...context, ...at };
  const analysis = await analyze(command, where);
  return makePlan({
    analysis,
    context: where,
    env: { A: "b" },
    shell: "/bin/sh",
    host: "gateway",
    agent: "main",
    session: "agent:main:main",
  });
}

const changed = { code: "approval.changed" };

describe("an approved plan", () => {
  it("stays valid while its files are unchanged", async () => {
    for (const command of ["tool x", "bash deploy.sh", "nice tool", "tool && tool", "cat deploy.sh | wc -l"]) {
      await verifyPlan(await frozen(command));
    }
  });

  it("becomes invalid when the program is rewritten in place", async () => {
    const plan = await frozen("tool x");
    script(join(tools, "tool"), "#!/bin/sh\necho two\n");
    await assert.rejects(verifyPlan(plan), changed);
  });

  it("becomes invalid when the program is replaced by an equal copy", async () => {
    const plan = await frozen("tool x");
    script(join(tools, "copy"), "#!/bin/sh\necho one\n");
    renameSync(join(tools, "copy"), join(tools, "tool"));
    await assert.rejects(verifyPlan(plan), changed);
  });

  it("becomes invalid when a program of that name appears earlier on PATH", async () => {
    const plan = await frozen("tool x");
    script(join(early, "tool"), "#!/bin/sh\necho one\n");
    await assert.rejects(verifyPlan(plan), changed);
  });

  it("becomes invalid when the program inside a wrapper changes", async () => {
    const plan = await frozen("nice tool");
    script(join(tools, "tool"), "#!/bin/sh\necho two\n");
    await assert.rejects(verifyPlan(plan), changed);
  });

  it("becomes invalid when the script of a shell or an interpreter is rewritten", async () => {
    const plans = [
      await frozen("bash deploy.sh"),
      await frozen("nice bash ./deploy.sh"),
      await frozen("sh deploy.sh && tool"),
    ];
    writeFileSync(join(fixture.workspace, "deploy.sh"), "echo two\n");
    for (const plan of plans) await assert.rejects(verifyPlan(plan), changed);
  });

  it("becomes invalid when the working folder or a link on its path leads elsewhere", async () => {
    const direct = await frozen("tool", { cwd: linked });
    const above = await frozen("tool", { cwd: join(linked, "inner") });
    mkdirSync(join(fixture.root, "swapped/inner"), { recursive: true });
    rmSync(linked);
    symlinkSync(join(fixture.root, "swapped"), linked);
    await assert.rejects(verifyPlan(direct), changed);
    await assert.rejects(verifyPlan(above), changed);
    const plain = await frozen("tool", { cwd: real });
    renameSync(real, join(fixture.root, "moved"));
    mkdirSync(real);
    await assert.rejects(verifyPlan(plain), changed);
    rmSync(join(fixture.root, "moved"), { recursive: true });
    rmSync(join(fixture.root, "swapped"), { recursive: true });
  });

  it("has a hash that differs for every change", async () => {
    const plan = await frozen("tool x");
    assert.equal(planHash(plan), planHash(JSON.parse(JSON.stringify(plan)) as Plan));
    const others: readonly Plan[] = [
      { ...plan, command: "tool y" },
      { ...plan, env: { ...plan.env, BASH_ENV: "x" } },
      { ...plan, agent: "other" },
      { ...plan, session: "other" },
      { ...plan, host: "node" },
      { ...plan, segments: plan.segments.map((segment) => ({ ...segment, argv: ["tool ", "x"] })) },
    ];
    assert.equal(new Set([plan, ...others].map(planHash)).size, others.length + 1);
  });

  it("cannot be made when the folder does not exist", async () => {
    await assert.rejects(frozen("tool", { cwd: join(fixture.root, "nosuch") }), { code: "exec.bad-folder" });
  });
});

describe("always", () => {
  it("covers these exact arguments in this folder", async () => {
    const plan = await frozen("nice cat 'a b' | wc -l");
    const cover = alwaysCovers(plan);
    assert.deepEqual(cover.entries, [
      { pattern: "/usr/bin/cat", args: ["a b"], cwd: fixture.workspace },
      { pattern: "/usr/bin/wc", args: ["-l"], cwd: fixture.workspace },
    ]);
    const policy = effectivePolicy(
      { ask: "on-miss" },
      { version: 1, agents: { main: { allowlist: [...cover.entries] } } },
      "main",
    );
    const outcome = async (command: string, cwd = fixture.workspace): Promise<string> =>
      judge({ analysis: await analyze(command, { ...context, cwd }), policy, safeBins: [] }).outcome;
    assert.deepEqual(
      [
        await outcome("nice cat 'a b' | wc -l"),
        await outcome("cat 'a b'"),
        await outcome("cat a b"),
        await outcome("cat 'a b'", fixture.out),
      ],
      ["run", "run", "ask", "ask"],
    );
  });

  it("never covers a shell, an interpreter, a program that runs commands or a whole line", async () => {
    for (const command of [
      "bash deploy.sh",
      "python3 safe.py",
      "find . -delete",
      "tool | sh",
      "tool && tool",
      "xargs tool",
      "env -i",
      "openclaw x",
    ]) {
      assert.deepEqual(alwaysCovers(await frozen(command)).entries, [], command);
    }
  });
});

describe("the card", () => {
  it("shows what would start instead of what was written", async () => {
    const card = describePlan(await frozen("FOO=1 t\\ool 'a b' \"$'\" 2>&1"));
    assert.equal(card.text, `FOO=1 tool 'a b' '$'\\''' 2>&1`);
    assert.deepEqual(
      card.rows.map(({ label }) => label),
      ["written", "program", "program", "folder", "variable", "host", "agent", "session", "always"],
    );
    assert.equal(card.always, undefined);
    assert.match(describePlan(await frozen("cat 'a b' \"$'\"")).always ?? "", /^exactly "cat" "a b" "\$'" in /);
  });

  it("shows no invisible character as it is", async () => {
    const invisible = ["\u202e", "\u200b", "\u200d", "\u3164", "\u001b[2K", "\u2800", "\u00a0", "\u{e0041}"];
    for (const form of ["tool", "tool; tool"]) {
      const plan = await frozen(`${form} '${invisible.join("x")}'`);
      const card = describePlan(plan);
      const shown = [card.text, card.always ?? "", ...card.rows.map(({ value }) => value)].join("\n");
      for (const char of invisible) assert.equal(shown.includes(char), false, `${JSON.stringify(char)} in ${form}`);
      assert.ok(card.text.includes("\\u{202e}x\\u{200b}x\\u{200d}x\\u{3164}"));
    }
  });

  it("rejects a plan that cannot be shown completely", async () => {
    const plan = await frozen(`tool; echo ${"a".repeat(100_000)}; touch x`);
    assert.throws(() => describePlan(plan), { code: "approval.too-long" });
  });
});

it("records the use of an entry and keeps everything else in the file", async () => {
  const state = join(fixture.root, "state");
  mkdirSync(state);
  const file = join(state, "exec-approvals.json");
  writeFileSync(
    file,
    JSON.stringify({
      version: 1,
      socket: { path: "x", token: "secret" },
      agents: { default: { allowlist: [join(tools, "*"), { pattern: "/usr/bin/wc", id: "w" }] } },
    }),
  );
  const policy = effectivePolicy({ ask: "off" }, readApprovals(state).file, "main");
  const analysis = await analyze("tool 1 | wc -l", context);
  const { matched } = judge({ analysis, policy, safeBins: [] });
  recordUse(state, matched, { ...(await frozen("tool 1 | wc -l")), command: "tool 1 --token abc | wc -l" }, 5);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), {
    version: 1,
    socket: { path: "x", token: "secret" },
    agents: {
      default: {
        allowlist: [
          {
            pattern: join(tools, "*"),
            lastUsedAt: 5,
            lastUsedCommand: "tool 1 --token *** | wc -l",
            lastResolvedPath: join(tools, "tool"),
          },
          {
            pattern: "/usr/bin/wc",
            id: "w",
            lastUsedAt: 5,
            lastUsedCommand: "tool 1 --token *** | wc -l",
            lastResolvedPath: "/usr/bin/wc",
          },
        ],
      },
    },
  });
});
