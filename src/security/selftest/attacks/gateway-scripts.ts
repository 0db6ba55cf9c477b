// Scripts for attacks on the gateway's port: HTTP requests, connections, methods without scope, malformed frames, and views.
import type { Outcome, AttackScript } from "../case.ts";
import type { TestEnvironment } from "../environment.ts";
import { ask, claimOf, openWire, type Claim, type HttpAsk, type Wire } from "../wire.ts";

export const blocked: Outcome = { ended: "refused", output: "" };
export const breach = (what: string): Outcome => ({ ended: "done", output: "", harm: what });

/** Sends a request that must not succeed. */
export const httpAttack = (request: (environment: { port: number; token: string }) => HttpAsk): AttackScript => ({
  async perform(environment) {
    const { port, token } = await environment.gateway();
    const { status, text } = await ask(port, request({ port, token }));
    return { ended: status >= 200 && status < 300 ? "done" : "refused", output: text };
  },
});

export const invoke = (headers: Record<string, string>, body = '{"tool":"agents_list","args":{}}'): HttpAsk => ({
  method: "POST",
  path: "/tools/invoke",
  headers: { "content-type": "application/json", ...headers },
  body,
});

/** Connects with a claim that must not be accepted. */
export const connectAttack = (
  claim: (token: string) => Claim,
  headers: (port: number) => Record<string, string> = () => ({}),
): AttackScript => ({
  async perform(environment) {
    const { port, token, secretKind } = await environment.gateway();
    const wire = openWire(port, headers(port));
    try {
      const nonce = await wire.nonce.catch(() => undefined);
      if (nonce === undefined) return blocked;
      const { ok, error } = await wire.request("connect", claimOf({ secretKind, ...claim(token) }, nonce));
      return { ended: ok === true ? "done" : "refused", output: JSON.stringify(error ?? "") };
    } finally {
      wire.end();
    }
  },
});

/** Connects with few scopes; each method must be refused. */
export const scopeAttack = (
  scopes: readonly string[],
  methods: readonly string[],
  params: unknown = {},
): AttackScript => ({
  perform: (environment) =>
    withClient(environment, { scopes, device: "none" }, async (wire) => {
      for (const method of methods) {
        const { ok } = await wire.request(method, params);
        if (ok === true) return breach(`${method} answered without the scope it needs`);
      }
      return blocked;
    }),
});

/** Sends a malformed frame; the gateway must keep answering others. */
export const frameAttack = (text: string, isConnected: boolean): AttackScript => ({
  async perform(environment) {
    const { port, token, secretKind } = await environment.gateway();
    const wire = openWire(port);
    const nonce = await wire.nonce;
    if (isConnected) await wire.request("connect", claimOf({ secret: token, secretKind, device: "own" }, nonce));
    wire.send(text);
    wire.end();
    return checkAlive(port);
  },
});

export async function checkAlive(port: number): Promise<Outcome> {
  const wire = openWire(port);
  const nonce = await wire.nonce.catch(() => undefined);
  wire.end();
  return nonce === undefined ? breach("the gateway stopped answering") : blocked;
}

/** Reads a view as the owner; it must not contain secrets. */
export const viewAttack = (method: string): AttackScript => ({
  perform: (environment) =>
    withClient(environment, { device: "own" }, async (wire) => {
      const { ok, payload } = await wire.request(method, {});
      const output = JSON.stringify(payload ?? "");
      const isLeaked = output.includes(environment.fixture.token);
      return { ended: ok === true ? "done" : "refused", output: isLeaked ? output : "" };
    }),
});

/** Connects with the gateway's secret and ends the connection after `use`. */
export async function withClient(
  environment: TestEnvironment,
  claim: Claim,
  use: (wire: Wire) => Promise<Outcome>,
): Promise<Outcome> {
  const { port, token, secretKind } = await environment.gateway();
  const wire = openWire(port);
  try {
    const hello = await wire.request("connect", claimOf({ secret: token, secretKind, ...claim }, await wire.nonce));
    if (hello.ok !== true) throw new Error("the client could not connect");
    return await use(wire);
  } finally {
    wire.end();
  }
}
