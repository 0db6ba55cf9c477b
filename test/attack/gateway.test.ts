// Attacks on the gateway: other origins, missing scopes, floods, malicious config, leftover files. Each title starts with its id in README.md.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  dispose,
  invoke,
  newIdentity,
  openclaw,
  operator,
  startGateway,
  tempHome,
  Wire,
  type Frame,
  type TestGateway,
} from "../harness/gateway.ts";

let gateway: TestGateway;
let admin: Wire;
before(async () => {
  gateway = await startGateway();
  admin = await operator(gateway);
});
after(async () => {
  admin.end();
  await dispose(gateway);
});

async function refusalOf(headers: Record<string, string>): Promise<string> {
  const wire = new Wire(gateway.port, { headers });
  const frame = await wire.connect({ token: gateway.token, identity: newIdentity() });
  wire.end();
  return frame.error?.message ?? "connected";
}

test("GWY-002 GWY-003 rejects connections from other pages, whatever they claim to be", async () => {
  for (const origin of [
    "https://evil.example",
    "http://127.0.0.1:1",
    "null",
    "file://",
    "http://localhost.evil.example",
    `http://127.0.0.1:${gateway.port}.evil.example`,
  ]) {
    assert.match(await refusalOf({ origin }), /^origin not allowed/, origin);
  }
  assert.equal(await refusalOf({ origin: `http://127.0.0.1:${gateway.port}` }), "connected");
});

test("GWY-002 rejects a foreign host name (DNS rebinding), also when Origin and Host agree", async () => {
  assert.match(
    await refusalOf({ origin: `http://evil.example:${gateway.port}`, host: `evil.example:${gateway.port}` }),
    /^origin not allowed/,
  );
});

test("GWY-007 a client without scopes can do nothing", async () => {
  const wire = new Wire(gateway.port);
  await wire.connect({ token: gateway.token, identity: null, scopes: [] });
  for (const method of ["health", "config.get", "tools.invoke", "device.pair.list"]) {
    assert.match((await wire.request(method, {})).error?.message ?? "", /^missing scope: /);
  }
  wire.end();
});

test("GWY-020 GWY-024 refuses oversized and ambiguous frames and keeps answering", async () => {
  const big = new Wire(gateway.port);
  await big.challenge;
  big.send(JSON.stringify({ type: "req", id: "1", method: "connect", params: { pad: "x".repeat(50_000_000) } }));
  assert.equal((await big.closed).code, 1009);
  const seen = admin.frames.length;
  admin.send('{"type":"req","id":"dup","id":"dup2","method":"health"}');
  await admin.request("health");
  const answer = admin.frames.slice(seen).find((frame) => frame.id === "invalid");
  assert.match(answer?.error?.message ?? "", /twice/);
});

test("GWY-022 limits idle connections and still accepts the owner", { timeout: 300_000 }, async () => {
  const sockets: Socket[] = [];
  for (let i = 0; i < 2000; i++) {
    const socket = connect(gateway.port, "127.0.0.1");
    socket.on("error", () => socket.destroy());
    socket.write(
      "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    );
    sockets.push(socket);
  }
  const answers = await Promise.all(
    sockets.slice(-50).map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.once("data", (chunk: Buffer) => resolve(chunk.toString().slice(0, 12)));
          socket.once("close", () => resolve("cut"));
        }),
    ),
  );
  assert.ok(answers.includes("HTTP/1.1 503"), "the last sockets are turned away");
  assert.equal((await admin.request("health")).ok, true);
  for (const socket of sockets) socket.destroy();
});

test("GWY-035 a redaction marker written back restores the secret and is never saved", async () => {
  const before = await admin.call("config.get", {});
  const { parsed } = before as { parsed: { gateway: { auth: { token: string } } } };
  assert.equal(parsed.gateway.auth.token, "__OPENCLAW_REDACTED__");
  assert.doesNotMatch(before.raw, new RegExp(gateway.token));
  const set = await admin.request("config.set", { raw: before.raw, baseHash: before.hash });
  assert.equal(set.ok, true, JSON.stringify(set.error));
  const file = readFileSync(join(gateway.state, "openclaw.json"), "utf8");
  assert.match(file, new RegExp(gateway.token));
  assert.doesNotMatch(file, /__OPENCLAW_REDACTED__/);
});

test("GWY-035 refuses a redaction marker where no value was stored", async () => {
  const { hash } = await admin.call("config.get", {});
  const patched = await admin.request("config.patch", {
    raw: '{hooks:{token:"__OPENCLAW_REDACTED__"}}',
    baseHash: hash,
    restartDelayMs: 60_000,
  });
  assert.equal(patched.ok, false);
});

test("GWY-037 an invalid change leaves the file unchanged", async () => {
  const path = join(gateway.state, "openclaw.json");
  const bytes = readFileSync(path);
  const { hash } = await admin.call("config.get", {});
  for (const raw of ["{gateway:{prot:1}}", '{gateway:{port:"many"}}', "{tools:5}", "[]", "{nope"]) {
    assert.equal((await admin.request("config.patch", { raw, baseHash: hash })).ok, false, raw);
  }
  assert.deepEqual(readFileSync(path), bytes);
});

test("config changes need the hash of the config that was read", async () => {
  const without = await admin.request("config.set", { raw: "{}" });
  assert.equal(without.error?.message, "config base hash required; re-run config.get and retry");
  const stale = await admin.request("config.set", { raw: "{}", baseHash: "0".repeat(64) });
  assert.equal(stale.error?.message, "config changed since last load; re-run config.get and retry");
});

test("GWY-050 GWY-051 an unauthenticated client learns only that a gateway is there", async () => {
  for (const path of [
    "/config",
    "/api/config",
    "/bootstrap.json",
    "/__openclaw__/control-ui-config.json",
    "/openclaw.json",
    "/.openclaw/openclaw.json",
  ]) {
    const text = await (await fetch(`${gateway.url}${path}`)).text();
    assert.match(text, /<!doctype html>/i, path);
    assert.doesNotMatch(text, new RegExp(`${gateway.token}|${gateway.state}`));
  }
});

test("GWY-054 writes its files with private modes", async () => {
  await invoke(gateway, "write", { path: "note.txt", content: "x" });
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  assert.equal(modeOf(gateway.state), "700");
  for (const name of readdirSync(gateway.state)) {
    const path = join(gateway.state, name);
    if (statSync(path).isFile()) assert.equal(modeOf(path), "600", name);
  }
  for (const name of readdirSync(join(gateway.state, "logs")))
    assert.equal(modeOf(join(gateway.state, "logs", name)), "600", name);
});

test("GWY-055 GWY-056 ignores config files in the working folder and the workspace", async () => {
  const home = tempHome();
  const canary = join(home, "canary");
  const state = join(home, ".openclaw");
  mkdirSync(join(state, "workspace"), { recursive: true });
  const env = `OPENCLAW_STATE_DIR=${home}/evil\nOPENCLAW_GATEWAY_TOKEN=evil-token-evil-token\nNODE_OPTIONS=--require=${home}/evil.cjs\nOPENAI_BASE_URL=http://evil.example\n`;
  for (const folder of [home, join(state, "workspace")]) {
    writeFileSync(join(folder, ".env"), env);
    writeFileSync(join(folder, "evil.cjs"), `require("fs").writeFileSync(${JSON.stringify(canary)}, "x")`);
    writeFileSync(join(folder, "setup-api.js"), `require("fs").writeFileSync(${JSON.stringify(canary)}, "x")`);
    writeFileSync(join(folder, ".npmrc"), "script-shell=/bin/false\n");
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ type: "module", imports: { "#x": "./evil.cjs" }, scripts: { prestart: `touch ${canary}` } }),
    );
  }
  const own = await startGateway({ home, config: {} });
  assert.equal((await invoke(own, "agents_list")).status, 200);
  const evil = await fetch(`${own.url}/tools/invoke`, {
    method: "POST",
    headers: { authorization: "Bearer evil-token-evil-token" },
    body: "{}",
  });
  assert.equal(evil.status, 401);
  assert.equal(existsSync(canary), false);
  assert.equal(existsSync(join(home, "evil")), false);
  await dispose(own);
});

test("GWY-059 does not follow a link in place of the log or the lock", async () => {
  const home = tempHome();
  const state = join(home, ".openclaw");
  mkdirSync(join(state, "logs"), { recursive: true });
  const victim = join(home, "victim");
  writeFileSync(victim, "precious");
  const today = new Date();
  const name = `openclaw-${today.getFullYear()}-${String(today.getMonth() + 1).padStart(2, "0")}-${String(today.getDate()).padStart(2, "0")}.log`;
  symlinkSync(victim, join(state, "logs", name));
  const own = await startGateway({ home, config: {} });
  assert.equal(readFileSync(victim, "utf8"), "precious");
  await dispose(own);
});

test("GWY-019 does not start with a webhook token equal to the gateway's", async () => {
  const home = tempHome();
  mkdirSync(join(home, ".openclaw"));
  writeFileSync(
    join(home, ".openclaw", "openclaw.json"),
    '{gateway:{mode:"local",auth:{token:"same-token-same-token"}},hooks:{enabled:true,token:"same-token-same-token"}}',
  );
  const { code, stderr } = await openclaw(home, ["gateway", "run", "--port", "0"]);
  assert.equal(code, 1);
  assert.match(stderr, /hooks\.token/);
});

test("refuses a second gateway on the same state and names the pid of the first", async () => {
  const { code, stderr } = await openclaw(gateway.home, ["gateway", "run", "--port", "0"]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(String(gateway.pid)));
});

test("refuses to bind beyond loopback without a secret", async () => {
  const home = tempHome();
  mkdirSync(join(home, ".openclaw"));
  writeFileSync(join(home, ".openclaw", "openclaw.json"), '{gateway:{mode:"local",bind:"lan"}}');
  const { code, stderr } = await openclaw(home, ["gateway", "run", "--port", "0"]);
  assert.equal(code, 1);
  assert.match(stderr, /without auth/);
  assert.match(stderr, /gateway\.auth\.token/);
});

test("rejects every client when no secret is set, also on loopback", async () => {
  const home = tempHome();
  mkdirSync(join(home, ".openclaw"));
  writeFileSync(join(home, ".openclaw", "openclaw.json"), '{gateway:{mode:"local"}}');
  const own = await startGateway({ home, args: ["--port", "0"] });
  for (const token of [undefined, "", "undefined", "null"]) {
    const wire = new Wire(own.port);
    const frame: Frame = await wire.connect({ token, identity: newIdentity() });
    assert.equal(frame.ok, false, String(token));
    wire.end();
  }
  await dispose(own);
});
