// The command line against a real gateway: health, calls, devices, the page's link, logs, restart and stop.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";
import {
  dispose,
  newIdentity,
  readJson,
  root,
  startGateway,
  tempHome,
  Wire,
  type TestGateway,
} from "../../harness/gateway.ts";

let gateway: TestGateway;
let cli: Cli;

before(async () => {
  gateway = await startGateway({
    config: { agents: { list: [{ id: "main" }, { id: "locked", tools: { deny: ["write"] } }] } },
  });
  cli = newCli(undefined, gateway.home);
});
after(() => dispose(gateway));

test("health, status and gateway status find it by its own port", async () => {
  const health = JSON.parse(wellEnded(await cli.run("health", "--json"))) as {
    ok: boolean;
    agents: { agentId: string }[];
  };
  assert.deepEqual([health.ok, health.agents.map(({ agentId }) => agentId)], [true, ["main", "locked"]]);
  assert.match(
    wellEnded(await cli.run("health")),
    /^Gateway +healthy \(ws:\/\/127\.0\.0\.1:\d+, answered in \d+ ms\)\nAgents +main \(default\)/,
  );
  const status = JSON.parse(wellEnded(await cli.run("status", "--json"))) as {
    gateway: Record<string, unknown>;
    sessions: unknown;
  };
  assert.deepEqual(
    [status.gateway["running"], status.gateway["pid"], status.gateway["url"]],
    [true, gateway.pid, `ws://127.0.0.1:${gateway.port}`],
  );
  assert.ok(status.sessions !== undefined);
  assert.match(
    wellEnded(await cli.run("status")),
    /Gateway +running at .*Agents +main \(default\), locked\n.*Next: openclaw dashboard/s,
  );
  const state = JSON.parse(wellEnded(await cli.run("gateway", "status", "--json"))) as {
    ok: boolean;
    probe: { ok: boolean };
  };
  assert.deepEqual([state.ok, state.probe.ok], [true, true]);
  assert.equal((await cli.run("gateway", "probe")).code, 0);
});

test("the device key is private, has the recorded shape and stays the same", async () => {
  await cli.run("health");
  const file = join(cli.state, "identity", "device.json");
  const first = readJson(file) as Record<string, unknown>;
  assert.deepEqual(Object.keys(first), ["version", "deviceId", "publicKeyPem", "privateKeyPem", "createdAtMs"]);
  for (const path of [file, join(cli.state, "identity", "device-auth.json")])
    assert.equal(statSync(path).mode & 0o777, 0o600, path);
  await cli.run("health");
  assert.deepEqual(readJson(file), first);
  const { paired } = JSON.parse(wellEnded(await cli.run("devices", "list", "--json"))) as {
    paired: { deviceId: string }[];
  };
  assert.deepEqual(
    paired.map(({ deviceId }) => deviceId).filter((id) => id === first["deviceId"]),
    [first["deviceId"]],
  );
});

test("gateway call: results, errors of the gateway, parameters as JSON5", async () => {
  const list = JSON.parse(wellEnded(await cli.run("gateway", "call", "sessions.list", "--params", "{limit: 5,}"))) as {
    sessions: unknown[];
  };
  assert.ok(Array.isArray(list.sessions));
  const unknown = await cli.run("gateway", "call", "no.such");
  assert.deepEqual([unknown.code, unknown.stderr.split("\n")[0]], [1, "unknown method: no.such"]);
  const bad = await cli.run("gateway", "call", "sessions.list", "--params", "{zzz: 1}");
  assert.match(bad.stderr, /^invalid sessions\.list params: at root: unexpected property 'zzz'/);
  assert.deepEqual((await cli.run("gateway", "call", "health", "--params", "[1]")).code, 2);
});

test("wrong secrets: says what is wrong and where to fix it", async () => {
  const url = ["--url", `ws://127.0.0.1:${gateway.port}`];
  const wrong = await cli.run("health", ...url, "--token", "not-the-token");
  assert.deepEqual(
    [wrong.code, wrong.stderr],
    [
      1,
      `the gateway at ws://127.0.0.1:${gateway.port} does not accept our token (unauthorized: gateway token mismatch)\nfix: pass the token that gateway has in gateway.auth.token\n`,
    ],
  );
  assert.equal((await cli.run("health", ...url, "--token", gateway.token)).code, 0);
  const elsewhere = newCli(
    `{ gateway: { mode: "remote", remote: { url: "ws://127.0.0.1:${gateway.port}", token: "nope-nope" } } }`,
  );
  assert.match(
    (await elsewhere.run("health")).stderr,
    /fix: openclaw config set gateway\.remote\.token <the gateway\.auth\.token of that gateway>/,
  );
  wellEnded(await elsewhere.run("config", "set", "gateway.remote.token", gateway.token));
  assert.equal((await elsewhere.run("health")).code, 0);
  wellEnded(await elsewhere.run("config", "unset", "gateway.remote.token"));
  assert.equal((await elsewhere.run("health")).code, 0, "the token this device was given is enough from then on");
  rmSync(join(elsewhere.state, "identity", "device-auth.json"));
  assert.match(
    (await elsewhere.run("health")).stderr,
    /requires a token, and this config has none\nfix: openclaw config set gateway\.remote\.token/,
  );
  elsewhere.dispose();
});

test("devices: rotate, revoke, and approve with the id that the device shows", { skip: noLan() }, async () => {
  const open = await startGateway({ args: ["--bind", "lan"] });
  const owner = newCli(undefined, open.home);
  const guest = newCli("{}");
  const target = ["--url", `ws://${lanAddress() ?? ""}:${open.port}`, "--token", open.token];
  const refused = await guest.run("health", ...target);
  const id = /fix: on the machine of the gateway run: openclaw devices approve ([0-9a-f-]{36})\n/.exec(
    refused.stderr,
  )?.[1];
  assert.ok(id !== undefined, refused.stderr);
  assert.match(wellEnded(await owner.run("devices")), new RegExp(`Pairing requests .*${id}`, "s"));
  assert.match(
    wellEnded(await owner.run("devices", "approve", id)),
    /^approved: cli on \w+ as operator\. It can connect now\.\n$/,
  );
  assert.equal((await guest.run("health", ...target)).code, 0);
  const again = await owner.run("devices", "approve", id);
  assert.deepEqual([again.code, again.stderr], [1, "unknown requestId\nfix: openclaw devices list\n"]);
  const { deviceId } = readJson(join(guest.state, "identity", "device.json")) as { deviceId: string };
  assert.match(
    wellEnded(await owner.run("devices", "rotate", "--device", deviceId.slice(0, 10), "--role", "operator")),
    /^new token of device [0-9a-f]{12}: [0-9a-f]{32}\n$/,
  );
  assert.match(
    wellEnded(await owner.run("devices", "revoke", "--device", deviceId.slice(0, 10), "--role", "operator")),
    /^revoked the operator token/,
  );
  const none = await owner.run("devices", "revoke", "--device", "zz", "--role", "operator");
  assert.deepEqual(
    [none.code, none.stderr],
    [1, "no paired device has an id that starts with zz\nfix: openclaw devices list --json\n"],
  );
  guest.dispose();
  await dispose(open);
});

test("bound to another address, still admits the owner on this machine", { skip: noLan() }, async () => {
  const address = lanAddress() ?? "";
  const bound = await startGateway({ config: { gateway: { bind: "custom", customBindHost: address } } });
  const owner = newCli(undefined, bound.home);
  assert.match(wellEnded(await owner.run("health")), new RegExp(`healthy \\(ws://${address}:${bound.port}`));
  wellEnded(await owner.run("gateway", "restart"));
  wellEnded(await owner.run("devices"));
  await dispose(bound);
});

test("--password applies to its run instead of the token of the config", async () => {
  const secret = await startGateway({ args: ["--password", "open-sesame-open-sesame"] });
  const owner = newCli(undefined, secret.home);
  assert.match((await owner.run("health")).stderr, /requires a password, and this config has none/);
  wellEnded(await owner.run("health", "--password", "open-sesame-open-sesame"));
  assert.match((await owner.run("health", "--password", "wrong")).stderr, /does not accept our password/);
  await dispose(secret);
});

test("dashboard prints one link; its code pairs a browser once", async () => {
  const { code, stdout, stderr } = await cli.run("dashboard", "--no-open");
  assert.deepEqual([code, stderr], [0, "Open it once to pair that browser. It expires after ten minutes.\n"]);
  const pair = new RegExp(`^http://127\\.0\\.0\\.1:${gateway.port}/#pair=(\\S+)\\n$`).exec(stdout)?.[1];
  assert.ok(pair !== undefined, stdout);
  const browser = async () => {
    const wire = new Wire(gateway.port, { headers: { origin: gateway.url, host: `127.0.0.1:${gateway.port}` } });
    const answer = await wire.connect({
      token: decodeURIComponent(pair),
      identity: newIdentity(),
      client: { id: "openclaw-control-ui", mode: "webchat" },
    });
    wire.end();
    return answer.ok;
  };
  assert.deepEqual([await browser(), await browser()], [true, false]);
});

test("tools call goes through the gateway under the same rules", async () => {
  wellEnded(await cli.run("tools", "call", "write", "path=live.md", "content=hello"));
  assert.equal(readFileSync(join(gateway.workspace, "live.md"), "utf8"), "hello");
  assert.equal(wellEnded(await cli.run("tools", "call", "read", "path=live.md")), "hello\n");
  const denied = await cli.run("tools", "call", "write", "path=x", "content=y", "--agent", "locked");
  assert.deepEqual(
    [denied.code, denied.stdout, /^write: blocked\n {2}for agent locked/.test(denied.stderr)],
    [1, "", true],
  );
  const { entries } = JSON.parse(
    wellEnded(await cli.run("gateway", "call", "tools.journal", "--params", "{limit: 5}")),
  ) as { entries: { tool: string; caller: string; outcome: string }[] };
  assert.deepEqual(
    entries.slice(0, 3).map(({ tool, caller, outcome }) => [tool, caller, outcome]),
    [
      ["write", "ws:cli", "refused"],
      ["read", "ws:cli", "ok"],
      ["write", "ws:cli", "ok"],
    ],
  );
});

test("lists sessions and approvals", async () => {
  wellEnded(await cli.run("gateway", "call", "sessions.patch", "--params", "{key: 'agent:main:one', label: 'First'}"));
  assert.match(wellEnded(await cli.run("sessions")), /^agent:main:one +First /m);
  assert.equal(
    (JSON.parse(wellEnded(await cli.run("sessions", "--json", "--agent", "locked"))) as { count: number }).count,
    0,
  );
  const approvals = JSON.parse(wellEnded(await cli.run("approvals", "get", "--gateway", "--json"))) as {
    exists: boolean;
    file: { version: number };
  };
  assert.deepEqual([approvals.exists, approvals.file.version], [false, 1]);
  assert.match(wellEnded(await cli.run("approvals")), /exec-approvals\.json \(does not exist/);
});

test("logs: the end, as text and as JSON lines; --follow continues over a restart", async () => {
  assert.match(wellEnded(await cli.run("logs", "--limit", "50")), /^\d\d:\d\d:\d\d \[gateway\] listening on http/m);
  const lines = wellEnded(await cli.run("logs", "--json", "--limit", "50"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; message?: string });
  assert.deepEqual([lines[0]?.type, new Set(lines.slice(1).map(({ type }) => type))], ["meta", new Set(["log"])]);
  const follow = spawn(process.execPath, [join(root, "openclaw.mjs"), "logs", "--follow", "--json", "--limit", "1"], {
    env: { PATH: process.env["PATH"], HOME: cli.home },
  });
  let seen = "";
  follow.stdout.on("data", (chunk: Buffer) => (seen += chunk.toString()));
  await until(() => seen.includes('"meta"'));
  const wire = new Wire(gateway.port);
  await wire.connect({ token: "wrong-token", identity: newIdentity() });
  await until(() => seen.includes("connection refused"));
  wellEnded(await cli.run("gateway", "restart"));
  await until(
    () =>
      /restarting/.test(seen) &&
      /"type":"notice"/.test(seen) &&
      seen.lastIndexOf("listening on") > seen.lastIndexOf("restarting: "),
  );
  follow.kill("SIGTERM");
});

test("a config change says how it affects the running gateway", async () => {
  const hot = await cli.run("config", "set", "tools.deny", '["browser"]');
  assert.deepEqual([hot.code, hot.stderr], [0, "Applied immediately.\n"]);
  await until(async () => {
    const { decision } = JSON.parse(
      wellEnded(await cli.run("gateway", "call", "tools.explain", "--params", "{tool: 'browser'}")),
    ) as { decision: { allowed: boolean } };
    return !decision.allowed;
  });
});

test("a command waits for a gateway that starts or restarts", async (t) => {
  const home = tempHome();
  const starting = startGateway({ home, config: {} });
  t.after(async () => dispose(await starting));
  const early = newCli(undefined, home);
  await until(() => existsSync(join(early.state, "gateway.lock.json")));
  const patient = ["cron", "status", "--timeout", "300000"];
  wellEnded(await early.run(...patient));
  await starting;
  for (const value of ["true", "false", "true"]) {
    wellEnded(await early.run("config", "set", "commands.debug", value));
    const { code, stderr } = await early.run(...patient);
    // Let in before the restart and put out by it is a restart, too; only "no gateway is running" would be untrue.
    assert.ok(code === 0 || stderr.includes("the gateway is restarting"), stderr);
  }
});

test("the lock excludes others, and stop ends exactly its holder and waits", async () => {
  const second = await cli.run("gateway", "run");
  assert.deepEqual(
    [
      second.code,
      new RegExp(`process ${gateway.pid} already runs on .*\\nfix: openclaw gateway status`).test(second.stderr),
    ],
    [1, true],
    second.stderr,
  );
  const restore = await cli.run("store", "restore", join(cli.state, "openclaw.sqlite"));
  assert.deepEqual([restore.code, /already runs on/.test(restore.stderr)], [1, true]);
  assert.deepEqual(JSON.parse(wellEnded(await cli.run("gateway", "stop", "--json"))), {
    ok: true,
    stopped: true,
    pid: gateway.pid,
  });
  // Ended, and taken note of: until this process has, its number is still there.
  await until(() => gateway.process.signalCode !== null || gateway.process.exitCode !== null);
  assert.throws(() => process.kill(gateway.pid, 0));
  assert.equal((await cli.run("gateway", "status")).code, 1);
  assert.match((await cli.run("logs", "--limit", "3")).stdout, /stopped by SIGTERM/);
});

test("stop never signals another process that has the pid of a dead gateway", async () => {
  const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const dead = newCli("{}");
  wellEnded(await dead.run("tools", "call", "agents_list"));
  writeFileSync(join(dead.state, "gateway.lock.json"), JSON.stringify({ pid: other.pid, startedAt: 1, port: 1 }));
  assert.deepEqual(await dead.run("gateway", "stop"), {
    code: 0,
    stdout: "no gateway is running with the state in ~/.openclaw\n",
    stderr: "",
  });
  assert.equal(other.exitCode, null);
  other.kill("SIGKILL");
  dead.dispose();
});

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await isSo()) return;
    await sleep(100);
  }
  throw new Error("it did not come about within a minute");
}

function noLan(): string | false {
  return lanAddress() === undefined ? "this machine has no address but loopback" : false;
}

function lanAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}
