// The audit: each finding, the order of the report, locations, and what a repair may change.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { resolvePaths } from "../../base/paths.ts";
import { audit, type AuditReport } from "./audit.ts";
import { weights, type Machine } from "./finding.ts";
import { sandboxed, exec, gateway, pairs, safeTools, strongToken, type SetUp } from "./findings.cases.ts";
import { programKind } from "./programs.ts";
import { weaknessOf } from "./weak-secret.ts";

const homes: string[] = [];
after(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

const machine: Machine = {
  platform: "linux",
  userId: process.getuid?.(),
  nodeVersion: "24.21.0",
  engineSockets: [],
  unguarded: () => Promise.resolve(undefined),
  sandboxWorks: () => Promise.resolve({ works: true }),
};

async function auditOf(setUp: SetUp): Promise<AuditReport> {
  const home = mkdtempSync(join(tmpdir(), "openclaw-audit-"));
  homes.push(home);
  const state = join(home, ".openclaw");
  mkdirSync(state, { mode: 0o700 });
  const put = (name: string, value: unknown): void =>
    writeFileSync(join(state, name), typeof value === "string" ? value : JSON.stringify(value), { mode: 0o600 });
  if (setUp.config !== undefined) put("openclaw.json", setUp.config);
  if (setUp.approvals !== undefined) put("exec-approvals.json", setUp.approvals);
  setUp.prepare?.(state, home);
  const env = { HOME: home, ...setUp.env };
  return audit({
    paths: resolvePaths(env),
    env,
    machine: { ...machine, ...setUp.machine },
    ...(setUp.deep === undefined ? {} : { deep: setUp.deep }),
  });
}

const idsOf = ({ findings }: AuditReport): string[] => findings.map(({ id }) => id);
describe("each finding", () => {
  for (const [index, { id, weight, bad, good }] of pairs.entries()) {
    test(`${index + 1}. ${id} (${weight})`, async () => {
      const environment = { MY_TOKEN: strongToken };
      const found = await auditOf({ ...bad, env: { ...environment, ...bad.env } });
      const mine = found.findings.filter((finding) => finding.id === id);
      // An owner other than us is more severe when it is not root.
      const wanted = id === "files.owner" && statSync(tmpdir()).uid === 0 && process.getuid?.() === 0 ? "low" : weight;
      assert.ok(
        mine.some((finding) => finding.weight === wanted),
        `${idsOf(found).join(" ")}; ${mine.map((one) => one.weight).join()}`,
      );
      for (const { what, why, fix } of mine) {
        assert.ok(what.length > 10 && why.length > 10 && fix.length > 5);
        // The fix can be typed as it is: no placeholders, and a shell can parse it.
        assert.doesNotMatch(fix, /<[a-z]|…|, then /);
        if (process.platform !== "win32") assert.equal(spawnSync("sh", ["-n", "-c", fix]).status, 0, fix);
      }
      const missing = await auditOf({ ...good, env: { ...environment, ...good.env } });
      assert.deepEqual(
        missing.findings.filter((finding) => finding.id === id && finding.weight === weight),
        [],
      );
    });
  }
});

test("has a case for every finding id", async () => {
  const { globSync, readFileSync } = await import("node:fs");
  const sources = globSync("*.ts", { cwd: import.meta.dirname }).filter((name) => !/\.(?:test|cases)\.ts$/.test(name));
  const text = sources.map((name) => readFileSync(join(import.meta.dirname, name), "utf8")).join("\n");
  const ids = new Set(
    [
      ...text.matchAll(
        /"((?:approvals|channels|commands|config|exec|exposure|files|hooks|machine|plugins|sandbox|secrets|tools)\.[a-z-]+)"/g,
      ),
    ].map(([, id]) => id ?? ""),
  );
  const keys = new Set([
    "approvals.exec",
    "gateway.bind",
    "session.dmScope",
    "tools.exec",
    "tools.profile",
    "hooks.token",
    "hooks.transformsDir",
    "hooks.allowRequestSessionKey",
    "plugins.allow",
    "plugins.installs",
  ]);
  assert.deepEqual(
    [...ids].filter((id) => !keys.has(id) && !pairs.some((one) => one.id === id)),
    [],
  );
});

test("sorts the report by weight, counts findings, and is ok only without critical and high ones", async () => {
  const bad = await auditOf({
    config: exec({ host: "gateway", security: "full", ask: "off" }, { commands: { debug: true } }),
  });
  const order = bad.findings.map(({ weight }) => weights.indexOf(weight));
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  );
  assert.equal(bad.ok, false);
  assert.equal(
    Object.values(bad.counts).reduce((sum, count) => sum + count),
    bad.findings.length,
  );
  const good = await auditOf({
    config: { ...gateway({ mode: "local" }), tools: safeTools, agents: sandboxed },
  });
  assert.deepEqual(
    idsOf(good).filter((id) => id !== "machine.root"),
    ["secrets.plain"],
  );
  assert.equal(good.ok, true);
});

test("reports file and line of a config key", async () => {
  const { findings } = await auditOf({ config: "{\n  // mine\n  commands: {\n    bash: true,\n  },\n}\n" });
  const where = findings.find(({ id }) => id === "commands.bash")?.where;
  assert.deepEqual(
    { ...where, file: where?.file?.endsWith("openclaw.json") },
    { path: "commands.bash", file: true, line: 4 },
  );
});

test("reports an invalid config and still checks files", async () => {
  const report = await auditOf({ config: "{ nope", prepare: (state) => chmodSync(state, 0o777) });
  assert.ok(idsOf(report).includes("config.invalid") && idsOf(report).includes("files.others-write"));
  assert.ok(!idsOf(report).some((id) => id.startsWith("exposure.")));
});

test("repairs only file modes", async () => {
  const { findings } = await auditOf({
    config: {},
    prepare: (state) => chmodSync(join(state, "openclaw.json"), 0o644),
  });
  const [first] = findings.filter(({ repair }) => repair !== undefined);
  first?.repair?.apply();
  assert.equal(statSync(first?.where.file ?? "").mode & 0o777, 0o600);
  assert.deepEqual(
    findings.filter(({ repair, id }) => repair !== undefined && !id.startsWith("files.")),
    [],
  );
});

test("finds nothing below a missing state folder", async () => {
  const report = await auditOf({ prepare: (state) => rmSync(state, { recursive: true }) });
  assert.ok(!idsOf(report).some((id) => id.startsWith("files.")));
  assert.equal(existsSync(join(homes.at(-1) ?? "", ".openclaw")), false);
});

test("recognizes program names with versions, and weak secrets", () => {
  assert.deepEqual(
    ["/bin/bash", "python3.12", "gcc-12", "/usr/bin/rg", "Rscript", "xargs"].map(
      (name) => programKind(name) !== undefined,
    ),
    [true, true, false, false, true, true],
  );
  assert.deepEqual(
    ["short", "password-0f1e2d3c4b5a6978", "aaaaaaaaaaaaaaaaaaaaaaaa", strongToken].map(
      (secret) => weaknessOf(secret) !== undefined,
    ),
    [true, true, true, false],
  );
});
