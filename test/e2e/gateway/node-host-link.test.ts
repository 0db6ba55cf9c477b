// The connection of a node host: waiting to be let in, coming back after every kind of loss, TLS, and refusals that are final.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";

import { exec, until } from "../../harness/exec.ts";
import { dispose, openclaw, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import {
  connectedAs,
  disposeNode,
  isLive,
  pidIn,
  keptNodeJson,
  readNodeJson,
  startNodeHost,
  type NodeHost,
} from "../../harness/node-host.ts";
import { openWay, selfSigned } from "../../harness/tls.ts";

const open = { defaults: { security: "full", ask: "off" } };
const config = { tools: { exec: { host: "node", security: "full", ask: "off" } } };

async function gatewayFor(t: TestContext): Promise<{ gateway: TestGateway; admin: Wire }> {
  const gateway = await startGateway({ config });
  const admin = await operator(gateway);
  t.after(async () => {
    admin.end();
    await dispose(gateway);
  });
  return { gateway, admin };
}
function hostFor(t: TestContext, ...args: Parameters<typeof startNodeHost>): NodeHost {
  const host = startNodeHost(...args);
  t.after(() => disposeNode(host));
  return host;
}
const gone = (pid: number): Promise<boolean> =>
  until(
    () => isLive(pid),
    (live) => !live,
    60_000,
  );
const says = (host: NodeHost, words: RegExp): Promise<string> =>
  until(
    () => host.output(),
    (text) => words.test(text),
    60_000,
  );
const sleeper = (file: string): string => `sleep 600 & echo $! > ${file}; sleep 601`;

describe("reconnecting", () => {
  test("after kill -9 of the gateway: its commands are ended, and the node's token still works", async (t) => {
    const { gateway, admin } = await gatewayFor(t);
    const host = hostFor(t, gateway, { name: "lab", approvals: open });
    const { nodeId } = await connectedAs(admin, "lab");
    const file = join(host.home, "left.pid");
    const asked = admin.request("node.invoke", {
      nodeId,
      command: "system.run",
      params: { command: ["/bin/sh", "-lc", sleeper(file)] },
      timeoutMs: 600_000,
      idempotencyKey: randomUUID(),
    });
    const pid = await pidIn(file);
    await gateway.stop("SIGKILL");
    await asked;
    await gone(pid);
    await says(host, /connection lost/);
    const again = await startGateway({ home: gateway.home });
    t.after(() => dispose(again));
    const person = await operator(again);
    t.after(() => person.end());
    assert.equal((await connectedAs(person, "lab")).nodeId, nodeId);
    const { details } = await exec(again, { command: "pwd" });
    assert.equal(details["aggregated"], `${host.home}\n`);
  });

  test("after kill -9 of the node host: its commands are gone, the caller gets an error, and the next host is the same node", async (t) => {
    const { gateway, admin } = await gatewayFor(t);
    const first = hostFor(t, gateway, { name: "lab", approvals: open });
    const { nodeId, connectedAtMs } = await connectedAs(admin, "lab");
    await keptNodeJson(first.state);
    const file = join(first.home, "left.pid");
    const asked = exec(gateway, { command: sleeper(file) });
    const pid = await pidIn(file);
    await first.stop("SIGKILL");
    const { error } = await asked;
    assert.equal(error?.type, "exec.node-away");
    await gone(pid);
    const down = await openclaw(first.home, ["node", "status"]);
    assert.equal(down.code, 1);
    assert.match(`${down.stdout}${down.stderr}`, /no node host runs here[^]*openclaw node run/);
    // Without the shared secret: its own token is enough. Without flags: the same gateway, the same name.
    const second = startNodeHost(gateway, { home: first.home, bare: true, env: { OPENCLAW_GATEWAY_TOKEN: "" } });
    t.after(() => second.stop("SIGKILL"));
    assert.equal((await connectedAs(admin, "lab", connectedAtMs)).nodeId, nodeId);
    assert.equal(await second.stop("SIGTERM"), 0);
    assert.equal((readNodeJson(first.state)["link"] as { state: string }).state, "away");
  });

  test("a revoked token: the node uses the shared secret once and stores the new token", async (t) => {
    const { gateway, admin } = await gatewayFor(t);
    const host = hostFor(t, gateway, { name: "lab", approvals: open });
    const { nodeId, connectedAtMs = 0 } = await connectedAs(admin, "lab");
    const { token: before } = await keptNodeJson(host.state);
    const rotated = await admin.request("device.token.rotate", { deviceId: nodeId, role: "node" });
    assert.equal(rotated.ok, true, JSON.stringify(rotated));
    await host.stop("SIGTERM");
    const again = startNodeHost(gateway, { home: host.home });
    t.after(() => again.stop("SIGKILL"));
    await connectedAs(admin, "lab", connectedAtMs);
    const now = await until(
      () => readNodeJson(host.state)["token"],
      (token) => token !== undefined && token !== before,
    );
    assert.equal(typeof now, "string");
  });
});

describe("connecting", () => {
  test("from another machine it waits and names the command that approves it", async (t) => {
    const { gateway, admin } = await gatewayFor(t);
    const way = await openWay(gateway.port, { from: "203.0.113.9" });
    t.after(() => way.close());
    const host = hostFor(t, gateway, { name: "far", port: way.port, approvals: open });
    const text = await says(host, /openclaw devices approve \S+/);
    const id = /openclaw devices approve (\S+)/.exec(text)?.[1] ?? "";
    const waiting = await openclaw(host.home, ["node", "status"]);
    assert.equal(waiting.code, 1);
    assert.match(
      `${waiting.stdout}${waiting.stderr}`,
      new RegExp(`waiting for pairing approval[^]*devices approve ${id}`),
    );
    assert.equal(isLive(host.pid), true, "it waits");
    const approved = await openclaw(gateway.home, ["devices", "approve", id]);
    assert.equal(approved.code, 0, approved.stderr);
    const { nodeId } = await connectedAs(admin, "far");
    await keptNodeJson(host.state);
    const { details } = await exec(gateway, { command: "pwd", node: nodeId });
    assert.equal(details["aggregated"], `${host.home}\n`);
  });

  test("a wrong or missing secret ends it, with the fix", async (t) => {
    const { gateway } = await gatewayFor(t);
    const wrong = hostFor(t, gateway, { env: { OPENCLAW_GATEWAY_TOKEN: "not-the-token-at-all" } });
    assert.equal(await wrong.exited, 1);
    assert.match(wrong.output(), /rejected this node[^]*OPENCLAW_GATEWAY_TOKEN/);
    const none = hostFor(t, gateway, { env: { OPENCLAW_GATEWAY_TOKEN: "" } });
    assert.equal(await none.exited, 1);
    assert.match(none.output(), /requires a token or password[^]*OPENCLAW_GATEWAY_TOKEN/);
  });

  test("rejects flags that it cannot apply", async (t) => {
    const { gateway } = await gatewayFor(t);
    for (const [args, words] of [
      [["--tls-fingerprint", "ab"], /requires --tls/],
      [["--tls", "--tls-fingerprint", "ab"], /64 hexadecimal digits/],
      [["--host", "http://x/"], /--host must be a name or an address/],
    ] as const) {
      const host = hostFor(t, gateway, { args });
      assert.equal(await host.exited, 2);
      assert.match(host.output(), words);
    }
    const app = hostFor(t, gateway, { env: { OPENCLAW_NODE_EXEC_HOST: "app" } });
    assert.equal(await app.exited, 1);
    assert.match(app.output(), /companion app/);
  });
});

describe("TLS", () => {
  test("a self-signed certificate needs its fingerprint; another fingerprint ends the connection before any data is sent", async (t) => {
    const { gateway, admin } = await gatewayFor(t);
    const certificate = selfSigned();
    const way = await openWay(gateway.port, { tls: certificate });
    t.after(() => way.close());
    const plain = hostFor(t, gateway, { port: way.port, args: ["--tls"] });
    assert.equal(await plain.exited, 1);
    assert.match(plain.output(), /not trusted[^]*--tls-fingerprint/);
    const other = selfSigned().fingerprint;
    const wrong = hostFor(t, gateway, { port: way.port, name: "wrong", args: ["--tls", "--tls-fingerprint", other] });
    assert.equal(await wrong.exited, 1);
    assert.match(wrong.output(), /does not match --tls-fingerprint/);
    const right = hostFor(t, gateway, {
      port: way.port,
      name: "sealed",
      approvals: open,
      args: ["--tls", "--tls-fingerprint", certificate.fingerprint],
    });
    const { nodeId, connectedAtMs } = await connectedAs(admin, "sealed");
    const { nodes } = await admin.call("node.list", {});
    assert.equal(
      nodes.some(({ displayName }) => displayName === "wrong"),
      false,
    );
    const { details } = await exec(gateway, { command: "pwd", node: nodeId });
    assert.equal(details["aggregated"], `${right.home}\n`);
    await right.stop();
    hostFor(t, gateway, { port: way.port, name: "sealed", home: right.home });
    await connectedAs(admin, "sealed", connectedAtMs);
    const { gateway: kept } = readNodeJson(right.state) as { gateway: object };
    assert.deepEqual(kept, {
      host: "127.0.0.1",
      port: way.port,
      tls: true,
      tlsFingerprint: certificate.fingerprint.replaceAll(":", "").toLowerCase(),
    });
  });
});
