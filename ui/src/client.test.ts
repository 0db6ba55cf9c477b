import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";

import { WebSocketServer, type WebSocket as Peer } from "ws";

import { backoffMs, Client } from "./client.ts";
import type { Secrets } from "./credential.ts";
import { openIdentity } from "./identity.ts";
import { createStore, firstState, type PageState, type Store } from "./state.ts";
import { createMemoryStorage, createCredentialStore } from "./credential-store.ts";

interface Request {
  readonly id: string;
  readonly method: string;
  readonly params: {
    readonly auth?: { readonly token?: string };
    readonly device?: object;
    readonly scopes?: readonly string[];
  };
}

/** A fake gateway on a real socket: `answer` answers each request. */
async function openPage(
  t: TestContext,
  secrets: Secrets,
  answer: (request: Request, peer: Peer) => object | undefined,
): Promise<{ client: Client; store: Store<PageState>; readonly vaultHeld: () => Secrets }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  server.on("connection", (peer) => {
    peer.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce: "n", ts: 1000 } }));
    peer.on("message", (bytes: Buffer) => {
      const request = JSON.parse(bytes.toString()) as Request;
      const reply = answer(request, peer);
      if (reply !== undefined) peer.send(JSON.stringify({ type: "res", id: request.id, ...reply }));
    });
  });
  const identity = await openIdentity({ get: () => Promise.resolve(undefined), put: (pair) => Promise.resolve(pair) });
  const credentials = createCredentialStore(createMemoryStorage(), "/");
  const store = createStore(firstState);
  const { port } = server.address() as { port: number };
  const client = new Client({ url: `ws://127.0.0.1:${port}/`, version: "1", store, credentials, identity, secrets });
  t.after(() => {
    client.stop();
    for (const peer of server.clients) peer.terminate();
    server.close();
  });
  client.start();
  return { client, store, vaultHeld: () => credentials.read(identity.deviceId) };
}

function until(store: Store<PageState>, holds: (state: PageState) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (!holds(store.value)) return;
      end();
      resolve();
    };
    const end = store.subscribe(check);
    check();
  });
}

const isConnected = ({ connection }: PageState): boolean => connection.phase === "connected";

const hello = (change: object = {}): object => ({
  ok: true,
  payload: {
    type: "hello-ok",
    protocol: 3,
    server: { version: "1", connId: "c" },
    features: { methods: [], events: [] },
    snapshot: { presence: [], health: { ok: true, ts: 1 }, uptimeMs: 1 },
    policy: { maxPayload: 2000, tickIntervalMs: 30_000 },
    ...change,
  },
});

const refusal = (message: string, change: object = {}): object => ({
  ok: false,
  error: { code: "INVALID_REQUEST", message, ...change },
});

test("connects with a link and stores only the device token", async (t) => {
  const seen: Request[] = [];
  const { store, vaultHeld } = await openPage(t, { link: "code" }, (request) => {
    seen.push(request);
    return hello({ auth: { deviceToken: "dev", role: "operator", scopes: [] } });
  });
  await until(store, isConnected);
  const { method, params } = seen[0] ?? assert.fail("nothing was asked");
  assert.deepEqual(
    [method, params.auth, params.scopes],
    ["connect", { token: "code" }, ["operator.admin", "operator.approvals", "operator.pairing"]],
  );
  assert.deepEqual(Object.keys(params.device ?? {}).toSorted(), ["id", "nonce", "publicKey", "signature", "signedAt"]);
  assert.deepEqual(vaultHeld(), { device: "dev" });
  assert.equal(store.value.epoch, 1);
});

test("uses the link when the device token is rejected", async (t) => {
  const { store } = await openPage(t, { device: "old", link: "code" }, ({ params }) =>
    params.auth?.token === "code" ? hello() : refusal("unauthorized: gateway token mismatch"),
  );
  await until(store, isConnected);
});

test("asks for a token when there is no secret, and connects with the typed one", async (t) => {
  const { client, store } = await openPage(t, {}, ({ params }) =>
    params.auth?.token === "right" ? hello() : refusal("unauthorized: gateway token missing"),
  );
  await until(store, ({ connection }) => connection.phase === "refused");
  client.present({ token: "right" });
  await until(store, isConnected);
});

test("waits for approval and then connects automatically", async (t) => {
  let asked = 0;
  const { store } = await openPage(t, { token: "t" }, () => {
    asked += 1;
    return asked === 1 ? refusal("pairing required", { code: "NOT_PAIRED", details: { requestId: "r-9" } }) : hello();
  });
  await until(store, ({ connection }) => connection.phase === "pairing" && connection.requestId === "r-9");
  await until(store, isConnected);
  assert.equal(asked, 2);
});

test("reconnects after a loss and rejects open requests", async (t) => {
  const { client, store } = await openPage(t, { token: "t" }, ({ method }, peer) => {
    if (method === "connect") return hello();
    peer.terminate();
    return undefined;
  });
  await until(store, isConnected);
  await assert.rejects(client.request("health", {}), { code: "page.connection-lost" });
  await assert.rejects(client.request("health", {}), { code: "page.not-connected" });
  await until(store, ({ epoch, connection }) => epoch === 2 && connection.phase === "connected");
});

test("an error carries its message, details and hint", async (t) => {
  const { client, store } = await openPage(t, { token: "t" }, ({ method }) =>
    method === "connect"
      ? hello()
      : refusal("blocked by tools.deny", { details: { explain: "why", hint: "openclaw config unset tools.deny" } }),
  );
  await until(store, isConnected);
  await assert.rejects(client.request("tools.invoke", { tool: "exec" }), {
    code: "INVALID_REQUEST",
    message: "blocked by tools.deny",
    hint: "openclaw config unset tools.deny",
    details: { explain: "why", hint: "openclaw config unset tools.deny" },
  });
});

test("does not send a message that is too large", async (t) => {
  const { client, store } = await openPage(t, { token: "t" }, () => hello());
  await until(store, isConnected);
  await assert.rejects(client.request("tools.invoke", { tool: "write", args: { content: "x".repeat(3000) } }), {
    code: "page.too-large",
  });
  assert.ok(isConnected(store.value));
});

test("events reach the store and the listeners, and a gap is read again", async (t) => {
  const { client, store } = await openPage(t, { token: "t" }, ({ method }, peer) => {
    if (method === "connect") {
      const event = (name: string, payload: unknown, seq: number): void =>
        peer.send(JSON.stringify({ type: "event", event: name, payload, seq }));
      setTimeout(() => {
        event("presence", { presence: [{ ts: 1, mode: "cli" }] }, 5);
        event("device.pair.requested", { requestId: "r" }, 8);
      }, 20);
      return hello();
    }
    return { ok: true, payload: method === "health" ? { ok: false, ts: 2 } : [{ ts: 2, mode: "node" }] };
  });
  const received = new Promise((resolve) => client.on("device.pair.requested", resolve));
  await until(store, ({ presence }) => presence[0]?.mode === "cli");
  assert.deepEqual(await received, { requestId: "r" });
  await until(store, ({ presence, health }) => presence[0]?.mode === "node" && health?.ok === false);
});

test("the reconnect delay grows to about 15 s, with jitter", () => {
  assert.deepEqual(
    [0, 1, 2, 20].map((failures) => backoffMs(failures, 0.5)),
    [1000, 1800, 3240, 15_000],
  );
  assert.deepEqual([backoffMs(0, 0), backoffMs(0, 1)], [750, 1250]);
});
