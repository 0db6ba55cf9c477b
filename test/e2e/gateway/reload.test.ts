// Changing a running gateway: hot edits, broken edits, edits that restart, signals, and a stop that lets work finish.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import {
  dispose,
  freePort,
  invoke,
  newIdentity,
  operator,
  startGateway,
  Wire,
  type TestGateway,
} from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ config: { tools: { deny: ["cron"] } } });
});
after(() => dispose(gateway));

const configFile = (): string => join(gateway.state, "openclaw.json");
const edit = (change: (text: string) => string): void =>
  writeFileSync(configFile(), change(readFileSync(configFile(), "utf8")));

/** Asks again until the answer fits; what is watched takes a moment to be seen. */
async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 2400; tries++) {
    if (await holds()) return;
    await sleep(25);
  }
  throw new Error(`never: ${what}\n${gateway.output().slice(-2000)}`);
}

test("applies an edit of the tool lists immediately, and connections stay", async () => {
  const wire = await operator(gateway);
  assert.equal((await invoke(gateway, "agents_list")).status, 200);
  edit((text) => text.replace('"cron"', '"cron", "agents_list"'));
  await until("the new deny holds", async () => (await invoke(gateway, "agents_list")).status === 404);
  edit((text) => text.replace(', "agents_list"', ""));
  await until("the deny is gone", async () => (await invoke(gateway, "agents_list")).status === 200);
  assert.equal((await wire.request("health")).ok, true);
  wire.end();
});

test("a broken edit leaves the last good config running and gives the reason with the line", async () => {
  const good = readFileSync(configFile(), "utf8");
  for (const [broken, said] of [
    [good.replace('"deny"', '"denny"'), /tools\.denny.*deny/s],
    ["{ nope", /openclaw\.json/],
  ] as const) {
    const seen = gateway.output().length;
    writeFileSync(configFile(), broken);
    await until("it is said", () => /config not reloaded/.test(gateway.output().slice(seen)));
    assert.match(gateway.output().slice(seen), said);
    assert.equal((await invoke(gateway, "agents_list")).status, 200);
    assert.equal((await invoke(gateway, "cron")).status, 404);
  }
  writeFileSync(configFile(), good);
  await sleep(500);
});

test("config.patch keeps comments, answers, then restarts in place: shutdown event, close 1012, same process", async () => {
  edit((text) => text.replace("{", "{\n  // mine"));
  await sleep(500);
  const wire = await operator(gateway);
  const { hash } = await wire.call("config.get", {});
  const patched = await wire.request("config.patch", {
    raw: "{ui:{assistant:{name:'Ada'}}}",
    baseHash: hash,
    restartDelayMs: 50,
  });
  assert.equal(patched.ok, true, JSON.stringify(patched.error));
  const shutdown = await wire.event("shutdown");
  assert.deepEqual(shutdown.payload, { reason: "gateway restarting", restartExpectedMs: 1500 });
  assert.deepEqual(await wire.closed, { code: 1012, reason: "service restart" });
  await until("it is back", async () => (await fetch(`${gateway.url}/health`).catch(() => undefined))?.ok === true);
  assert.match(readFileSync(configFile(), "utf8"), /\/\/ mine/);
  assert.equal(gateway.process.exitCode, null);
});

test("a new port causes a restart on the new port in the same process", async () => {
  const port = await freePort();
  edit((text) => text.replace(`"port": ${gateway.port}`, `"port": ${port}`));
  await until(
    "the new port answers",
    async () => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.ok === true,
  );
  assert.equal(
    await fetch(`${gateway.url}/health`).then(
      () => "open",
      () => "closed",
    ),
    "closed",
  );
  edit((text) => text.replace(`"port": ${port}`, `"port": ${gateway.port}`));
  await until(
    "the old port answers",
    async () => (await fetch(`${gateway.url}/health`).catch(() => undefined))?.ok === true,
  );
});

test("SIGUSR1 restarts only where commands.restart allows it", async () => {
  gateway.process.kill("SIGUSR1");
  await until("it is ignored, saying so", () => /SIGUSR1 ignored/.test(gateway.output()));
  edit((text) => text.replace('"tools"', '"commands": { "restart": true }, "tools"'));
  const wire = await operator(gateway);
  await until("the permission is in force", () =>
    /config reloaded: .*commands|restarting: config changed: .*commands/.test(gateway.output()),
  );
  // Where it restarts for that, it has to be back before it can be asked again.
  await until("it is up", async () => {
    const isBack = /listening on/.test(gateway.output().split("restarting: config changed").at(-1) ?? "");
    return isBack && (await fetch(`${gateway.url}/health`).catch(() => undefined))?.ok === true;
  });
  const seen = gateway.output().length;
  gateway.process.kill("SIGUSR1");
  await until("it restarts", () => /restarting: SIGUSR1/.test(gateway.output().slice(seen)));
  await until("it is back", async () => (await fetch(`${gateway.url}/health`).catch(() => undefined))?.ok === true);
  wire.end();
});

test("SIGTERM completes a request in flight, frees the port and exits with 0", async () => {
  const own = await startGateway();
  const wire = new Wire(own.port);
  await wire.connect({ token: own.token, identity: newIdentity() });
  const answers = Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      invoke(own, "write", { path: `f${i}.txt`, content: "x" }).catch(() => undefined),
    ),
  );
  await sleep(5);
  const code = await own.stop("SIGTERM");
  const done = (await answers).filter((answer) => answer?.status === 200);
  assert.equal(code, 0);
  assert.equal((await wire.closed).code, 1001);
  for (const answer of done) assert.match(JSON.stringify(answer?.body), /"ok":true/);
  const next = await startGateway({ home: own.home });
  await dispose(next);
});
