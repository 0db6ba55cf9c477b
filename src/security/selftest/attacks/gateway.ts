// Attacks on the gateway's port: web pages, guessed secrets, forged devices, floods and malformed frames.
import { setTimeout as sleep } from "node:timers/promises";

import { attacksOf, type Attack } from "../case.ts";
import { ask, openWire } from "../wire.ts";
import {
  blocked,
  breach,
  checkAlive,
  connectAttack,
  frameAttack,
  httpAttack,
  invoke,
  scopeAttack,
  viewAttack,
} from "./gateway-scripts.ts";

export const gatewayAttacks: readonly Attack[] = attacksOf("gateway", [
  [
    "page-post",
    "call a tool from a web page",
    httpAttack(({ token }) => invoke({ authorization: `Bearer ${token}`, origin: "https://evil.example" })),
    "refused",
    "done",
  ],
  [
    "page-plain",
    "call a tool from a page without a preflight request",
    httpAttack(({ token }) =>
      invoke({ authorization: `Bearer ${token}`, origin: "https://evil.example", "content-type": "text/plain" }),
    ),
    "refused",
    "done",
  ],
  [
    "rebound",
    "call a tool with a host name that resolves to this machine",
    httpAttack(({ token, port }) => invoke({ authorization: `Bearer ${token}`, host: `evil.example:${port}` })),
    "refused",
    "done",
  ],
  [
    "rebound-page",
    "call a tool from a page with such a host name",
    httpAttack(({ token, port }) =>
      invoke({ authorization: `Bearer ${token}`, host: `evil.example:${port}`, origin: `http://evil.example:${port}` }),
    ),
    "refused",
    "done",
  ],
  [
    "doubled-key",
    "send a key twice, so that two parsers read different values",
    httpAttack(({ token }) =>
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
    "call a tool with GET",
    httpAttack(({ token }) => ({
      path: "/tools/invoke?tool=agents_list",
      headers: { authorization: `Bearer ${token}` },
    })),
    "refused",
    "harm",
  ],
  ["file-config", "fetch the config as a file", httpAttack(() => ({ path: "/openclaw.json" })), "safe", "harm"],
  [
    "file-climb",
    "fetch a file with ..",
    httpAttack(() => ({ path: "/assets/../../../../../../out/secret" })),
    "safe",
    "harm",
  ],
  [
    "file-encoded",
    "fetch a file with encoded ..",
    httpAttack(() => ({ path: "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/out/secret" })),
    "safe",
    "harm",
  ],
  [
    "open-cors",
    "let any page read responses",
    {
      async perform(environment) {
        const { port } = await environment.gateway();
        const { headers } = await ask(port, {
          method: "OPTIONS",
          path: "/tools/invoke",
          headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
        });
        const allowed = headers["access-control-allow-origin"];
        return allowed === undefined ? blocked : breach(`pages of ${String(allowed)} may read responses`);
      },
    },
    "refused",
  ],
  [
    "socket-page",
    "connect from a web page",
    connectAttack(
      (secret) => ({ secret }),
      () => ({ origin: "https://evil.example" }),
    ),
    "refused",
    "done",
  ],
  [
    "socket-null-page",
    "connect from a page with the origin null",
    connectAttack(
      (secret) => ({ secret }),
      () => ({ origin: "null" }),
    ),
    "refused",
    "done",
  ],
  [
    "socket-like-page",
    "connect from a page whose origin begins alike",
    connectAttack(
      (secret) => ({ secret }),
      (port) => ({ origin: `http://127.0.0.1:${port}.evil.example` }),
    ),
    "refused",
    "done",
  ],
  [
    "socket-other-port",
    "connect from a page on another port",
    connectAttack(
      (secret) => ({ secret }),
      () => ({ origin: "http://127.0.0.1:1" }),
    ),
    "refused",
    "done",
  ],
  [
    "forged-device",
    "connect with a wrong device signature",
    connectAttack((secret) => ({ secret, device: "forged" })),
    "refused",
    "done",
  ],
  [
    "stale-device",
    "connect with an expired signature",
    connectAttack((secret) => ({ secret, device: "stale" })),
    "refused",
    "done",
  ],
  [
    "replayed-device",
    "connect with a signature for another challenge",
    connectAttack((secret) => ({ secret, device: "replayed" })),
    "refused",
    "done",
  ],
  [
    "odd-role",
    "connect with an unknown role",
    connectAttack((secret) => ({ secret, role: "root" })),
    "refused",
    "done",
  ],
  [
    "no-scopes",
    "call methods without any scope",
    scopeAttack([], ["health", "config.get", "tools.invoke", "device.pair.list"]),
    "refused",
  ],
  [
    "config-by-reader",
    "change the config with a read scope",
    scopeAttack(["operator.read"], ["config.set", "config.patch", "config.apply"], { raw: "{}", baseHash: "x" }),
    "refused",
  ],
  [
    "approvals-by-reader",
    "change approvals with a read scope",
    scopeAttack(["operator.read"], ["exec.approvals.get", "exec.approvals.set"], { file: { version: 1 } }),
    "refused",
  ],
  [
    "resolve-by-reader",
    "answer an approval with a read scope",
    scopeAttack(["operator.read"], ["exec.approval.resolve"], { id: "x", decision: "allow-once" }),
    "refused",
  ],
  [
    "pair-by-reader",
    "admit a device with a read scope",
    scopeAttack(["operator.read"], ["device.pair.approve", "device.token.rotate"], {
      requestId: "x",
      deviceId: "x",
      role: "operator",
    }),
    "refused",
  ],
  ["config-view", "read the secret in the config", viewAttack("config.get"), "safe"],
  ["status-view", "read the secret in the status", viewAttack("status"), "safe"],
  ["log-view", "read the secret in the log", viewAttack("logs.tail"), "safe"],
  [
    "frame-first",
    "call a method before the handshake",
    {
      async perform(environment) {
        const { port } = await environment.gateway();
        const wire = openWire(port);
        await wire.nonce;
        const { ok } = await wire.request("config.get", {});
        wire.end();
        return ok === true ? breach("it answered before the handshake") : blocked;
      },
    },
    "refused",
  ],
  ["frame-broken", "crash the gateway with a broken frame", frameAttack('{"type":"req","id":', true), "refused"],
  ["frame-list", "crash it with a list", frameAttack("[[[[]]]]", true), "refused"],
  [
    "frame-deep",
    "crash it with a deep frame",
    frameAttack(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`, true),
    "refused",
  ],
  [
    "frame-prototype",
    "pollute the object prototype",
    frameAttack('{"type":"req","id":"1","method":"health","params":{"__proto__":{"x":1}}}', true),
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
        return checkAlive(port);
      },
    },
    "refused",
  ],
  // Wrong secrets come last, because the gateway then rejects this address for a while.
  ["no-secret", "call a tool without a secret", httpAttack(() => invoke({})), "refused", "done"],
  [
    "empty-secret",
    "call a tool with an empty secret",
    httpAttack(() => invoke({ authorization: "Bearer " })),
    "refused",
    "done",
  ],
  [
    "guess",
    "call a tool with a guess",
    httpAttack(() => invoke({ authorization: "Bearer changeme" })),
    "refused",
    "done",
  ],
  [
    "half-secret",
    "call a tool with half of the secret",
    httpAttack(({ token }) => invoke({ authorization: `Bearer ${token.slice(0, -1)}` })),
    "refused",
    "done",
  ],
  [
    "word-undefined",
    "call a tool with the word undefined",
    httpAttack(() => invoke({ authorization: "Bearer undefined" })),
    "refused",
    "done",
  ],
  [
    "secret-in-address",
    "send the secret in the address",
    httpAttack(({ token }) => ({ ...invoke({}), path: `/tools/invoke?token=${token}` })),
    "refused",
    "done",
  ],
  [
    "basic",
    "send the secret with another scheme",
    httpAttack(({ token }) => invoke({ authorization: `Basic ${Buffer.from(`x:${token}x`).toString("base64")}` })),
    "refused",
    "done",
  ],
  ["socket-no-secret", "connect without a secret", connectAttack(() => ({})), "refused", "done"],
  ["socket-guess", "connect with a guess", connectAttack(() => ({ secret: "changeme" })), "refused", "done"],
  [
    "many-guesses",
    "guess without a limit",
    {
      async perform(environment) {
        const { port } = await environment.gateway();
        const answers = [];
        for (let round = 0; round < 14; round++)
          answers.push(await ask(port, invoke({ authorization: `Bearer guess-${round}`, "x-selftest": "1" })));
        return answers.at(-1)?.status === 401 && !/wait|many/i.test(answers.at(-1)?.text ?? "")
          ? breach("secrets can be guessed without a limit")
          : blocked;
      },
    },
    "refused",
  ],
]);
