// The approvals file disappears or breaks: its last known rules stay in force, and the owner is warned.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { exec, until, writeApprovals } from "../../harness/exec.ts";
import { dispose, openclaw, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";

const config = { tools: { exec: { host: "gateway", security: "full", ask: "off" } } };
const strict = { defaults: { security: "allowlist", ask: "off" }, agents: { ops: { security: "deny" } } };
const fileOf = ({ state }: TestGateway): string => join(state, "exec-approvals.json");

const cautionOf = async (wire: Wire): Promise<string | undefined> =>
  (await wire.call("health")).approvals?.caution.text;

describe("a missing approvals file", () => {
  let gateway: TestGateway;
  let wire: Wire;
  before(async () => {
    gateway = await startGateway({ config });
    mkdirSync(gateway.workspace, { recursive: true });
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });
  const isRefused = async (): Promise<boolean> =>
    (await exec(gateway, { command: "id" })).error?.type === "exec.denied";

  test("without an earlier file there is no warning, and the config alone decides", async () => {
    assert.equal((await exec(gateway, { command: "id" })).details["status"], "completed");
    assert.equal(await cautionOf(wire), undefined);
  });

  test("leaves its rules in force, with a warning in the log, on the page and in doctor", async () => {
    writeApprovals(gateway.state, strict);
    await until(isRefused, Boolean);
    rmSync(fileOf(gateway));
    assert.equal(await isRefused(), true, "at once, not only when the loss is noticed");
    assert.match(
      (await until(
        () => cautionOf(wire),
        (text) => text !== undefined,
      )) ?? "",
      /exec-approvals\.json is missing/,
    );
    assert.match(gateway.output(), /exec-approvals\.json is missing\. Its last known rules stay in force/);
    assert.equal(await isRefused(), true);
    const doctor = await openclaw(gateway.home, ["doctor"]);
    assert.match(doctor.stdout, /exec-approvals\.json is missing[\s\S]*openclaw approvals restore/);
    const shown = await wire.call("exec.approvals.get", {});
    const { exists, lost, file } = shown;
    assert.deepEqual([exists, lost], [false, true]);
    assert.match(JSON.stringify(file), /"ops":\{"security":"deny"/);
  });

  test("keeps its rules after a restart", async () => {
    await gateway.stop();
    gateway = await startGateway({ home: gateway.home });
    wire = await operator(gateway);
    assert.equal(existsSync(fileOf(gateway)), false);
    assert.equal(await isRefused(), true);
    assert.match((await cautionOf(wire)) ?? "", /is missing/);
    assert.match(gateway.output(), /exec-approvals\.json is missing/);
  });

  test("is written again by approvals restore", async () => {
    const { code, stdout } = await openclaw(gateway.home, ["approvals", "restore"]);
    assert.equal(code, 0, stdout);
    assert.match(readFileSync(fileOf(gateway), "utf8"), /"security": "allowlist"/);
    await until(
      () => cautionOf(wire),
      (text) => text === undefined,
    );
    assert.equal(await isRefused(), true);
    const again = await openclaw(gateway.home, ["approvals", "restore"]);
    assert.match(again.stderr, /nothing to restore/);
    assert.equal(again.code, 1);
  });

  test("a new file of the owner decides, also without rules", async () => {
    rmSync(fileOf(gateway));
    assert.equal(await isRefused(), true);
    writeApprovals(gateway.state, {});
    assert.equal((await exec(gateway, { command: "id" })).details["status"], "completed");
    rmSync(fileOf(gateway));
    assert.equal((await exec(gateway, { command: "id" })).details["status"], "completed", "the last rules were none");
    assert.match(
      (await until(
        () => cautionOf(wire),
        (text) => text !== undefined,
      )) ?? "",
      /is missing/,
    );
  });

  test("an editor that renames a new file into place changes the rules without a warning", async () => {
    writeApprovals(gateway.state, {});
    await until(
      () => cautionOf(wire),
      (text) => text === undefined,
    );
    writeFileSync(`${fileOf(gateway)}.new`, JSON.stringify({ version: 1, ...strict }), { mode: 0o600 });
    renameSync(`${fileOf(gateway)}.new`, fileOf(gateway));
    assert.equal(await isRefused(), true);
    assert.equal(await cautionOf(wire), undefined);
  });

  for (const [how, text] of [
    ["invalid", "{ nope"],
    ["empty", ""],
  ] as const)
    test(`a file that became ${how} denies every host command, and the owner is notified`, async () => {
      writeApprovals(gateway.state, {});
      await until(
        () => cautionOf(wire),
        (caution) => caution === undefined,
      );
      writeFileSync(fileOf(gateway), text);
      assert.equal((await exec(gateway, { command: "id" })).error?.type, "approvals.unreadable");
      assert.match(
        (await until(
          () => cautionOf(wire),
          (caution) => caution !== undefined,
        )) ?? "",
        /Commands on this host are blocked: .*exec-approvals\.json/,
      );
      assert.match((await openclaw(gateway.home, ["doctor"])).stdout, /Commands on this host are blocked/);
    });
});
