// Which gateway a command connects to, and that a secret is sent to no other.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { createIo, type Io } from "./io.ts";
import { everyTarget, targetOf, type Target, type WireFlags } from "./target.ts";
import { readUncheckedConfig } from "./settings.ts";

const home = mkdtempSync(join(tmpdir(), "target-"));
after(() => rmSync(home, { recursive: true, force: true }));

function ioWith(config: unknown, env: Record<string, string> = {}, profile?: string): Io {
  const state = join(home, profile === undefined ? ".openclaw" : `.openclaw-${profile}`);
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, "openclaw.json"), JSON.stringify(config));
  const stream = { isTerminal: false, columns: undefined, write: () => undefined };
  return createIo(
    { env: { HOME: home, ...env }, stdout: stream, stderr: stream, stdinIsTerminal: false },
    { profile, json: false, color: false },
  );
}

const brief = ({ url, token, password, from, isLocal }: Target) => ({ url, token, password, from, isLocal });
const ask = async (config: unknown, flags: WireFlags = {}, env: Record<string, string> = {}, profile?: string) =>
  brief(await targetOf(ioWith(config, env, profile), flags));

test("on this machine, takes port and secret from flags, environment, config, in that order", async () => {
  const local = { from: "this machine", isLocal: true, password: undefined };
  assert.deepEqual(await ask({}), { ...local, url: "ws://127.0.0.1:18789", token: undefined });
  const config = { gateway: { port: 2000, auth: { token: "c" } } };
  assert.deepEqual(await ask(config), { ...local, url: "ws://127.0.0.1:2000", token: "c" });
  const env = { OPENCLAW_GATEWAY_PORT: "3000", OPENCLAW_GATEWAY_TOKEN: "e" };
  assert.deepEqual(await ask(config, {}, env), { ...local, url: "ws://127.0.0.1:3000", token: "e" });
  assert.deepEqual(await ask(config, { token: "f" }, env), { ...local, url: "ws://127.0.0.1:3000", token: "f" });
  assert.deepEqual(await ask({ gateway: { auth: { password: "p" } } }), {
    ...local,
    url: "ws://127.0.0.1:18789",
    token: undefined,
    password: "p",
  });
  assert.deepEqual(await ask({}, {}, {}, "dev"), { ...local, url: "ws://127.0.0.1:19001", token: undefined });
});

test("sends a remote gateway only its own secret", async () => {
  const remote = { mode: "remote", remote: { url: "wss://host/", token: "r" }, auth: { token: "mine" } };
  const expected = { url: "wss://host", token: "r", password: undefined, from: "gateway.remote.url", isLocal: false };
  assert.deepEqual(await ask({ gateway: remote }, {}, { OPENCLAW_GATEWAY_TOKEN: "e" }), expected);
  await assert.rejects(ask({ gateway: { mode: "remote" } }), { code: "cli.no-remote" });
});

test("inherits nothing with --url", async () => {
  const config = { gateway: { auth: { token: "mine" } } };
  await assert.rejects(ask(config, { url: "ws://other:1" }), { name: "UsageError" });
  assert.deepEqual(await ask(config, { url: "http://other:1", token: "t" }), {
    url: "ws://other:1",
    token: "t",
    password: undefined,
    from: "--url",
    isLocal: false,
  });
  for (const url of ["", "other", "file:///x", "ftp://x"])
    await assert.rejects(ask(config, { url, token: "t" }), { code: "cli.bad-url" }, url);
});

test("probe tries all known gateways", async () => {
  const io = ioWith({ gateway: { remote: { url: "ws://r:1" } } });
  const all = everyTarget(io, { url: "ws://u:2", token: "t" }, await readUncheckedConfig(io));
  assert.deepEqual(
    all.map(({ url }) => url),
    ["ws://127.0.0.1:18789", "ws://r:1", "ws://u:2"],
  );
});
