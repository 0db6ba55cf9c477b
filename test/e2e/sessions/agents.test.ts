// Agents over the wire: made, changed and removed in the config with its comments kept; their files stay in their workspace.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";

let gateway: TestGateway;
let wire: Wire;
before(async () => {
  gateway = await startGateway();
  const file = join(gateway.state, "openclaw.json");
  writeFileSync(file, readFileSync(file, "utf8").replace("{", "{\n  // house rules"));
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
});

const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
  const frame = await wire.request(method, params);
  return frame.ok === true ? (frame.payload as Record<string, unknown>) : { error: frame.error?.message };
};
const ids = async (): Promise<string[]> =>
  ((await ask("agents.list", {}))["agents"] as { id: string }[]).map(({ id }) => id);

test("a new agent is usable immediately, main stays the default, and comments stay", async () => {
  const workspace = join(gateway.home, "probe");
  assert.deepEqual(await ask("agents.create", { name: "Probe Agent", workspace, emoji: "P" }), {
    ok: true,
    agentId: "probe-agent",
    name: "Probe Agent",
    workspace,
  });
  assert.deepEqual(await ids(), ["main", "probe-agent"]);
  assert.equal((await ask("agents.list", {}))["defaultId"], "main");
  assert.match(readFileSync(join(gateway.state, "openclaw.json"), "utf8"), /\/\/ house rules/);
  assert.deepEqual(await ask("agents.create", { name: "probe agent", workspace }), {
    error: 'agent "probe-agent" already exists',
  });
});

test("its files can be written, read and listed, and no file outside them", async () => {
  const set = await ask("agents.files.set", { agentId: "probe-agent", name: "SOUL.md", content: "calm\n" });
  assert.equal((set["file"] as { content: string }).content, "calm\n");
  const { files } = (await ask("agents.files.list", { agentId: "probe-agent" })) as {
    files: { name: string; missing: boolean }[];
  };
  assert.deepEqual(
    files.filter(({ missing }) => !missing).map(({ name }) => name),
    ["SOUL.md"],
  );
  for (const name of ["../x", "openclaw.json", "soul.md"]) {
    assert.deepEqual(await ask("agents.files.get", { agentId: "probe-agent", name }), {
      error: `unsupported file "${name}"`,
    });
  }
  assert.match(
    String((await ask("agents.files.list", { agentId: "nobody" }))["error"]),
    /no agent "nobody"; known: main, probe-agent/,
  );
});

test("it can be changed and removed; its folder goes to the trash", async () => {
  assert.deepEqual(await ask("agents.update", { agentId: "probe-agent", name: "Probe Two" }), {
    ok: true,
    agentId: "probe-agent",
  });
  assert.deepEqual(await ask("agents.delete", { agentId: "main" }), { error: '"main" cannot be deleted' });
  assert.deepEqual(await ask("agents.delete", { agentId: "probe-agent", deleteFiles: true }), {
    ok: true,
    agentId: "probe-agent",
    removedBindings: 0,
  });
  assert.deepEqual(await ids(), ["main"]);
  assert.equal(existsSync(join(gateway.home, "probe")), false);
  assert.equal(readdirSync(join(gateway.state, "trash")).length, 1);
});
