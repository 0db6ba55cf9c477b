// Attacks on the gateway's port: pages, guesses, claims, forged devices, floods and odd frames.
import { setTimeout as sleep } from "node:timers/promises";

import { attacksOf, type Attack } from "../case.ts";
import { ask, openWire } from "../wire.ts";
import { aliveOr, beyond, closedWell, connect, http, invoke, letIn, odd, view } from "./gateway-scenes.ts";

export const gatewayAttacks: readonly Attack[] = attacksOf("gateway", [
  [
    "page-post",
    "call a tool from a web page",
    http(({ token }) => invoke({ authorization: `Bearer ${token}`, origin: "https://evil.example" })),
    "refused",
    "done",
  ],
  [
    "page-plain",
    "call a tool from a page without asking first",
    http(({ token }) =>
      invoke({ authorization: `Bearer ${token}`, origin: "https://evil.example", "content-type": "text/plain" }),
    ),
    "refused",
    "done",
  ],
  [
    "rebound",
    "call a tool by a name made to point here",
    http(({ token, port }) => invoke({ authorization: `Bearer ${token}`, host: `evil.example:${port}` })),
    "refused",
    "done",
  ],
  [
    "rebound-page",
    "the same with a page of that name",
    http(({ token, port }) =>
      invoke({ authorization: `Bearer ${token}`, host: `evil.example:${port}`, origin: `http://evil.example:${port}` }),
    ),
    "refused",
    "done",
  ],
  [
    "doubled-key",
    "send a key twice and let two readers differ",
    http(({ token }) =>
      invoke(
        { authorization: `Bearer ${token}` },
        '{"tool":"write","args":{"path":"a.txt","path":"b.txt","content":"x"}}',
      ),
    ),
    "refused",
    "done",
  ],
  [
    "method",
    "call a tool by fetching it",
    http(({ token }) => ({ path: "/tools/invoke?tool=agents_list", headers: { authorization: `Bearer ${token}` } })),
    "refused",
    "harm",
  ],
  ["file-config", "fetch the config as a file", http(() => ({ path: "/openclaw.json" })), "safe", "harm"],
  [
    "file-climb",
    "fetch a file by climbing",
    http(() => ({ path: "/assets/../../../../../../out/secret" })),
    "safe",
    "harm",
  ],
  [
    "file-encoded",
    "the same in codes",
    http(() => ({ path: "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/out/secret" })),
    "safe",
    "harm",
  ],
  [
    "open-cors",
    "let any page read answers",
    {
      async perform(environment) {
        const { port } = await environment.gateway();
        const { headers } = await ask(port, {
          method: "OPTIONS",
          path: "/tools/invoke",
          headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
        });
        const allowed = headers["access-control-allow-origin"];
        return allowed === undefined ? closedWell : letIn(`pages of ${String(allowed)} may read answers`);
      },
    },
    "refused",
  ],
  [
    "socket-page",
    "connect from a web page",
    connect(
      (secret) => ({ secret }),
      () => ({ origin: "https://evil.example" }),
    ),
    "refused",
    "done",
  ],
  [
    "socket-null-page",
    "connect from a page without a name",
    connect(
      (secret) => ({ secret }),
      () => ({ origin: "null" }),
    ),
    "refused",
    "done",
  ],
  [
    "socket-like-page",
    "connect from a page whose name begins alike",
    connect(
      (secret) => ({ secret }),
      (port) => ({ origin: `http://127.0.0.1:${port}.evil.example` }),
    ),
    "refused",
    "done",
  ],
  [
    "socket-other-port",
    "connect from a page on another port",
    connect(
      (secret) => ({ secret }),
      () => ({ origin: "http://127.0.0.1:1" }),
    ),
    "refused",
    "done",
  ],
  [
    "forged-device",
    "bring a device with a wrong signature",
    connect((secret) => ({ secret, device: "forged" })),
    "refused",
    "done",
  ],
  [
    "stale-device",
    "bring a signature of yesterday",
    connect((secret) => ({ secret, device: "stale" })),
    "refused",
    "done",
  ],
  [
    "replayed-device",
    "bring a signature for another challenge",
    connect((secret) => ({ secret, device: "replayed" })),
    "refused",
    "done",
  ],
  ["odd-role", "come in a role there is not", connect((secret) => ({ secret, role: "root" })), "refused", "done"],
  [
    "no-scopes",
    "do things without any scope",
    beyond([], ["health", "config.get", "tools.invoke", "device.pair.list"]),
    "refused",
  ],
  [
    "config-by-reader",
    "change the config with a scope for reading",
    beyond(["operator.read"], ["config.set", "config.patch", "config.apply"], { raw: "{}", baseHash: "x" }),
    "refused",
  ],
  [
    "approvals-by-reader",
    "change what may run with a scope for reading",
    beyond(["operator.read"], ["exec.approvals.get", "exec.approvals.set"], { file: { version: 1 } }),
    "refused",
  ],
  [
    "resolve-by-reader",
    "answer an approval with a scope for reading",
    beyond(["operator.read"], ["exec.approval.resolve"], { id: "x", decision: "allow-once" }),
    "refused",
  ],
  [
    "pair-by-reader",
    "let a device in with a scope for reading",
    beyond(["operator.read"], ["device.pair.approve", "device.token.rotate"], {
      requestId: "x",
      deviceId: "x",
      role: "operator",
    }),
    "refused",
  ],
  ["config-view", "read the secret in a view of the config", view("config.get"), "safe"],
  ["status-view", "read the secret in a view of the state", view("status"), "safe"],
  ["log-view", "read the secret in the log", view("logs.tail"), "safe"],
  [
    "frame-first",
    "speak before saying who one is",
    {
      async perform(environment) {
        const { port } = await environment.gateway();
        const wire = openWire(port);
        await wire.nonce;
        const { ok } = await wire.request("config.get", {});
        wire.end();
        return ok === true ? letIn("it answered before the handshake") : closedWell;
      },
    },
    "refused",
  ],
  ["frame-broken", "crash the gateway with a broken frame", odd('{"type":"req","id":', true), "refused"],
  ["frame-list", "crash it with a list", odd("[[[[]]]]", true), "refused"],
  ["frame-deep", "crash it with a deep frame", odd(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`, true), "refused"],
  [
    "frame-prototype",
    "change what every object has",
    odd('{"type":"req","id":"1","method":"health","params":{"__proto__":{"x":1}}}', true),
    "refused",
  ],
  [
    "frame-huge",
    "fill the memory before the handshake",
    {
      async perform(environment) {
        const { port } = await environment.gateway();
        const wire = openWire(port);
        await wire.nonce;
        wire.send(JSON.stringify({ type: "req", id: "1", method: "connect", params: { pad: "x".repeat(30_000_000) } }));
        await Promise.race([wire.closed, sleep(2000)]);
        wire.end();
        return aliveOr(port);
      },
    },
    "refused",
  ],
  // Wrong secrets come last: after some of them the gateway listens to nobody from this address for a while.
  ["no-secret", "call a tool without a secret", http(() => invoke({})), "refused", "done"],
  [
    "empty-secret",
    "call a tool with an empty secret",
    http(() => invoke({ authorization: "Bearer " })),
    "refused",
    "done",
  ],
  ["guess", "call a tool with a guess", http(() => invoke({ authorization: "Bearer changeme" })), "refused", "done"],
  [
    "half-secret",
    "call a tool with half the secret",
    http(({ token }) => invoke({ authorization: `Bearer ${token.slice(0, -1)}` })),
    "refused",
    "done",
  ],
  [
    "word-undefined",
    "call a tool with the word undefined",
    http(() => invoke({ authorization: "Bearer undefined" })),
    "refused",
    "done",
  ],
  [
    "secret-in-address",
    "carry the secret in the address",
    http(({ token }) => ({ ...invoke({}), path: `/tools/invoke?token=${token}` })),
    "refused",
    "done",
  ],
  [
    "basic",
    "carry the secret in another scheme",
    http(({ token }) => invoke({ authorization: `Basic ${Buffer.from(`x:${token}x`).toString("base64")}` })),
    "refused",
    "done",
  ],
  ["socket-no-secret", "connect without a secret", connect(() => ({})), "refused", "done"],
  ["socket-guess", "connect with a guess", connect(() => ({ secret: "changeme" })), "refused", "done"],
  [
    "many-guesses",
    "guess all day",
    {
      async perform(environment) {
        const { port } = await environment.gateway();
        const answers = [];
        for (let round = 0; round < 14; round++)
          answers.push(await ask(port, invoke({ authorization: `Bearer guess-${round}`, "x-selftest": "1" })));
        return answers.at(-1)?.status === 401 && !/wait|many/i.test(answers.at(-1)?.text ?? "")
          ? letIn("it may be guessed at without end")
          : closedWell;
      },
    },
    "refused",
  ],
]);
