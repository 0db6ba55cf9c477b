// Restarts over broken configs and storms of them: back with the last good config, never a loop, told once.
// `OPENCLAW_RESTART_ROUNDS=100` runs the mixed rounds in full.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { call as callTool, until } from "../../harness/exec.ts";
import { call, say, startFakeOpenAI, type FakeRequest } from "../../fakes/openai.ts";
import { dispose, openclaw, operator, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { chat, startWithModel } from "../../harness/model.ts";
import { configFile, holdPort, isUp, type HeldPort } from "../../harness/restart.ts";

const rounds = Number(process.env["OPENCLAW_RESTART_ROUNDS"] ?? 3);

const gateways: TestGateway[] = [];
const held: HeldPort[] = [];
afterEach(freeHeld);
after(async () => {
  for (const gateway of gateways) await dispose(gateway);
});

async function start(config: Record<string, unknown> = {}): Promise<TestGateway> {
  const gateway = await startGateway({ config });
  gateways.push(gateway);
  return gateway;
}
const starts = (gateway: TestGateway): number => gateway.output().match(/listening on http/g)?.length ?? 0;

async function takePort(): Promise<number> {
  const taken = await holdPort();
  held.push(taken);
  return taken.port;
}

async function freeHeld(): Promise<void> {
  await Promise.all(held.splice(0).map((one) => one.free()));
}

async function restart(gateway: TestGateway): Promise<void> {
  const before = starts(gateway);
  const wire = await operator(gateway);
  await wire.request("gateway.restart", {});
  await wire.closed;
  await until(
    () => starts(gateway),
    (count) => count > before,
  );
  await until(() => isUp(gateway.url), Boolean);
}

async function health(gateway: TestGateway): Promise<{ ok: boolean; trouble?: string }> {
  const wire = await operator(gateway);
  const payload = await wire.call("health", {});
  wire.end();
  return payload;
}

test("a restart over an invalid config continues with the last good one and reports it until it is fixed", async () => {
  const gateway = await start({ tools: { deny: ["cron"] } });
  const good = readFileSync(configFile(gateway), "utf8");
  writeFileSync(configFile(gateway), good.replace('"deny"', '"denny"'));
  await restart(gateway);
  assert.match((await health(gateway)).trouble ?? "", /tools\.denny/);
  const { stdout } = await openclaw(gateway.home, ["doctor"]);
  assert.match(stdout, /runs with the last good config[\s\S]*tools\.denny/);
  assert.match(readFileSync(configFile(gateway), "utf8"), /denny/, "the file is the owner's: it is not touched");
  writeFileSync(configFile(gateway), good);
  await until(
    () => health(gateway),
    ({ trouble }) => trouble === undefined,
  );
  assert.equal(gateway.process.exitCode, null);
});

test("a restart over a config that cannot start (its port is taken) comes back on the old port", async () => {
  const gateway = await start();
  const taken = await takePort();
  const good = readFileSync(configFile(gateway), "utf8");
  writeFileSync(configFile(gateway), good.replace(`"port": ${gateway.port}`, `"port": ${taken}`));
  await until(
    () => starts(gateway),
    (count) => count === 2,
  );
  assert.match((await health(gateway)).trouble ?? "", new RegExp(`already listening on ws://127.0.0.1:${taken}`));
  await sleep(1000);
  assert.equal(starts(gateway), 2, "it does not try on and on");
});

test("fifty simultaneous restart commands cause one restart", async () => {
  const gateway = await start({ commands: { restart: true } });
  const wires = await Promise.all(Array.from({ length: 10 }, () => operator(gateway)));
  const asked = wires.flatMap((wire) =>
    Array.from({ length: 5 }, () => wire.request("gateway.restart", { delayMs: 4000 })),
  );
  const answers = await Promise.all(asked);
  const lastDueAt = Date.now() + 4000;
  assert.equal(answers.filter(({ ok }) => ok).length, 50);
  for (let i = 0; i < 5; i++) gateway.process.kill("SIGUSR1");
  await until(
    () => starts(gateway),
    (count) => count === 2,
  );
  // Longer than any of the fifty would have waited.
  while (Date.now() < lastDueAt + 500) await sleep(100);
  assert.equal(starts(gateway), 2);
  assert.equal(await isUp(gateway.url), true);
});

test("an agent that restarts on every turn: refused in a wake, and limited to three in a row when asked", async () => {
  const lastOf = ({ body }: FakeRequest): { role: string; content: unknown } =>
    (body as { messages: { role: string; content: unknown }[] }).messages.at(-1) ?? {
      role: "",
      content: "",
    };
  const results: string[] = [];
  const server = await startFakeOpenAI((request) => {
    const { role, content } = lastOf(request);
    if (role === "tool") results.push(JSON.stringify(content));
    return role === "tool" ? say("ok") : call("gateway", { action: "restart", delayMs: 0, note: "again" });
  });
  const gateway = await startWithModel(server, { more: { commands: { restart: true } } });
  gateways.push(gateway);
  const refusals = (words: RegExp): number => results.filter((text) => words.test(text)).length;
  for (const round of [1, 2, 3, 4]) {
    const wire = await operator(gateway);
    await wire.request("chat.send", { sessionKey: "main", message: "go", idempotencyKey: `go-${round}` });
    await until(
      () => (round < 4 ? starts(gateway) > round : refusals(/agents restarted the gateway/) > 0),
      (isSo) => isSo,
      60_000,
    );
    wire.end();
  }
  assert.equal(starts(gateway), 4, "the first start and three more");
  await sleep(1000);
  assert.equal(starts(gateway), 4, "also the turns that heard of a restart began none");
  const later = await operator(gateway);
  assert.equal((await chat(later, "agent:main:other", "/status", "s1")).state, "final");
  later.end();
  await server.close();
});

test("kill -9 between the restart note and the restart: the session is informed once, after the next start", async () => {
  const gateway = await startGateway({ config: {} });
  const wire = await operator(gateway);
  const { hash } = await wire.call("config.get", {});
  const patched = await wire.request("config.patch", {
    raw: "{ui:{assistant:{name:'Ada'}}}",
    baseHash: hash,
    sessionKey: "main",
    note: "renamed",
    restartDelayMs: 60_000,
  });
  assert.equal(patched.ok, true, JSON.stringify(patched.error));
  const { path } = (patched.payload as { sentinel: { path: string } }).sentinel;
  assert.equal(path, join(gateway.state, "restart-sentinel.json"));
  await gateway.stop("SIGKILL");
  const told: string[] = [];
  for (let start = 0; start < 3; start++) {
    const next = await startGateway({ home: gateway.home });
    const again = await operator(next);
    const payload = await again.call("system-events.list", { sessionKey: "main" });
    told.push(...payload.events.map(({ text }) => text));
    assert.equal(existsSync(path), false);
    await next.stop("SIGKILL");
  }
  assert.equal(new Set(told).size, 1, told.join("\n"));
  assert.match(told[0] ?? "", /^Gateway restarted \(config\.patch done, requested [^)]+\)\nrenamed$/);
  rmSync(gateway.home, { recursive: true, force: true });
});

test(
  `${rounds} mixed rounds of bad edits, taken ports, restart storms and kills: always back, never a loop`,
  { timeout: 300_000 + rounds * 60_000 },
  async (t) => {
    let gateway = await startGateway({ config: { commands: { restart: true } } });
    const good = readFileSync(configFile(gateway), "utf8");
    const faults: Readonly<Record<string, () => Promise<void>>> = {
      async invalid() {
        writeFileSync(configFile(gateway), good.replace("{", "{ nope: 1,"));
        await restart(gateway);
        assert.match((await health(gateway)).trouble ?? "", /nope/);
      },
      async garbage() {
        writeFileSync(configFile(gateway), "{ not even");
        await restart(gateway);
        assert.notEqual((await health(gateway)).trouble, undefined);
      },
      async portTaken() {
        const before = starts(gateway);
        writeFileSync(configFile(gateway), good.replace(`"port": ${gateway.port}`, `"port": ${await takePort()}`));
        await until(
          () => starts(gateway),
          (count) => count === before + 1,
        );
        assert.match((await health(gateway)).trouble ?? "", /already listening/);
      },
      async storm() {
        const before = starts(gateway);
        const wire = await operator(gateway);
        await Promise.all(Array.from({ length: 50 }, () => wire.request("gateway.restart", {})));
        await until(
          () => starts(gateway),
          (count) => count > before,
        );
        await sleep(100);
        assert.equal(starts(gateway), before + 1);
      },
      async killed() {
        const { home } = gateway;
        await gateway.stop("SIGKILL");
        gateway = await startGateway({ home });
      },
    };
    const names = Object.keys(faults);
    const done: Record<string, number> = {};
    for (let round = 0; round < rounds; round++) {
      const name =
        round < names.length ? (names[round] ?? "") : (names[Math.floor(Math.random() * names.length)] ?? "");
      done[name] = (done[name] ?? 0) + 1;
      await faults[name]?.();
      writeFileSync(configFile(gateway), good);
      await until(() => isUp(gateway.url), Boolean);
      await until(
        () => health(gateway),
        ({ trouble }) => trouble === undefined,
      );
      await freeHeld();
    }
    t.diagnostic(`${rounds} rounds, 0 loops: ${JSON.stringify(done)}`);
    await dispose(gateway);
  },
);

test("stops a job that restarts the gateway every second after three restarts; gateway and chats continue", async () => {
  const gateway = await start({ commands: { restart: true } });
  const wire = await operator(gateway);
  const added = await wire.request("cron.add", {
    name: "storm",
    enabled: true,
    schedule: { kind: "every", everyMs: 1000 },
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: { kind: "tool", tool: "gateway", args: { action: "restart", delayMs: 0 } },
    // What cannot be told because the gateway stops would count as an error, and put the next run off.
    delivery: { mode: "none" },
  });
  assert.equal(added.ok, true, JSON.stringify(added.error));
  // The first start and three more; on a slow machine one more for each half minute that passed without any.
  const began = Date.now();
  const most = (): number => 4 + Math.floor((Date.now() - began) / 30_000);
  await until(
    () => starts(gateway),
    (count) => count >= 4,
    300_000,
  );
  assert.ok(starts(gateway) <= most(), `${starts(gateway)} starts`);
  const { id } = added.payload as { id: string };
  // Refused as one restart too many, or, when its time passed while the gateway was down, as one that makes up for it.
  await until(
    async () => {
      const one = await operator(gateway).catch(() => undefined);
      const answer = await one?.request("cron.runs", { id });
      one?.end();
      return JSON.stringify(answer ?? null);
    },
    (runs) => /agents restarted the gateway|makes up for a missed time/.test(runs),
    120_000,
  );
  const later = await operator(gateway);
  await later.request("cron.update", { id, patch: { enabled: false } });
  assert.ok(starts(gateway) <= most(), `${starts(gateway)} starts`);
  assert.equal((await chat(later, "main", "/status", "s1")).state, "final");
  later.end();
});

test(
  `${rounds} kills right after approval: applied completely or not at all, never twice, and reported once`,
  {
    timeout: 300_000 + rounds * 60_000,
  },
  async (t) => {
    let gateway = await startGateway({ config: {} });
    const { home } = gateway;
    const seen = { applied: 0, denied: 0, waiting: 0 };
    for (let round = 0; round < rounds; round++) {
      const session = `agent:main:round-${round}`;
      const before = readFileSync(configFile(gateway), "utf8");
      const asked = await callTool(
        gateway,
        "gateway",
        { action: "config.patch", raw: `{tools:{deny:['tool-${round}']}}`, delayMs: 0 },
        { body: { sessionKey: session } },
      );
      const id = String(asked.details["approvalId"]);
      const wire = await operator(gateway);
      void wire.request("exec.approval.resolve", { id, decision: "allow-once" });
      await sleep(Math.random() * 80);
      await gateway.stop("SIGKILL");
      wire.end();
      gateway = await startGateway({ home });
      const again = await operator(gateway);
      const { pending } = await again.call("exec.approvals.pending", {});
      const isWaiting = pending.some((one) => one.id === id);
      if (isWaiting) await again.request("exec.approval.resolve", { id, decision: "deny" });
      const lines = await until(
        async () => {
          const payload = await again.call("system-events.list", { sessionKey: session });
          return payload.events.map(({ text }) => text);
        },
        (told) => told.length > 0,
      );
      const after = readFileSync(configFile(gateway), "utf8");
      assert.equal(lines.length, 1, lines.join("\n"));
      assert.ok(lines[0]?.includes(id), lines[0]);
      const isApplied = after.includes(`tool-${round}"`);
      assert.equal(/config\.patch done|Config change applied/.test(lines[0] ?? ""), isApplied, lines[0]);
      if (!isApplied) assert.equal(after, before);
      seen[isWaiting ? "waiting" : isApplied ? "applied" : "denied"] += 1;
      again.end();
    }
    t.diagnostic(`${rounds} kills: ${JSON.stringify(seen)}`);
    await dispose(gateway);
  },
);
