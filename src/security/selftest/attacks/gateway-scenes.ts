// Scenes at the gateway's port: a request, a connection, a method beyond one's scopes, an odd frame, a view by the owner.
import type { Outcome, AttackScript } from "../case.ts";
import type { TestEnvironment } from "../environment.ts";
import { ask, claimOf, openWire, type Claim, type Frame, type HttpAsk } from "../wire.ts";

export const closedWell: Outcome = { ended: "refused", output: "" };
export const letIn = (what: string): Outcome => ({ ended: "done", output: "", harm: what });

/** A request that must not be answered with success. */
export const http = (request: (environment: { port: number; token: string }) => HttpAsk): AttackScript => ({
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

/** A connect that must not be accepted. */
export const connect = (
  claim: (token: string) => Claim,
  headers: (port: number) => Record<string, string> = () => ({}),
): AttackScript => ({
  async perform(environment) {
    const { port, token, secretKind } = await environment.gateway();
    const wire = openWire(port, headers(port));
    try {
      const nonce = await wire.nonce.catch(() => undefined);
      if (nonce === undefined) return closedWell;
      const { ok, error } = await wire.request("connect", claimOf({ secretKind, ...claim(token) }, nonce));
      return { ended: ok === true ? "done" : "refused", output: JSON.stringify(error ?? "") };
    } finally {
      wire.end();
    }
  },
});

/** Connected with few scopes; each method must be refused. */
export const beyond = (scopes: readonly string[], methods: readonly string[], params: unknown = {}): AttackScript => ({
  async perform(environment) {
    const { port, token, secretKind } = await environment.gateway();
    const wire = openWire(port);
    try {
      const hello = await wire.request(
        "connect",
        claimOf({ secret: token, secretKind, scopes, device: "none" }, await wire.nonce),
      );
      if (hello.ok !== true) throw new Error("the reader could not connect");
      for (const method of methods) {
        const { ok } = await wire.request(method, params);
        if (ok === true) return letIn(`${method} answered without the scope it needs`);
      }
      return closedWell;
    } finally {
      wire.end();
    }
  },
});

/** A frame that is no request; the gateway must go on answering others. */
export const odd = (text: string, isConnected: boolean): AttackScript => ({
  async perform(environment) {
    const { port, token, secretKind } = await environment.gateway();
    const wire = openWire(port);
    const nonce = await wire.nonce;
    if (isConnected) await wire.request("connect", claimOf({ secret: token, secretKind, device: "own" }, nonce));
    wire.send(text);
    wire.end();
    return aliveOr(port);
  },
});

export async function aliveOr(port: number): Promise<Outcome> {
  const wire = openWire(port);
  const nonce = await wire.nonce.catch(() => undefined);
  wire.end();
  return nonce === undefined ? letIn("the gateway stopped answering") : closedWell;
}

const probe = async (environment: TestEnvironment, frame: Promise<Frame>): Promise<Outcome> => {
  const { ok, payload } = await frame;
  const output = JSON.stringify(payload ?? "");
  return { ended: ok === true ? "done" : "refused", output: output.includes(environment.fixture.token) ? output : "" };
};

/** A view of the config by the owner; secrets must not be in it. */
export const view = (method: string): AttackScript => ({
  async perform(environment) {
    const { port, token, secretKind } = await environment.gateway();
    const wire = openWire(port);
    try {
      const hello = await wire.request(
        "connect",
        claimOf({ secret: token, secretKind, device: "own" }, await wire.nonce),
      );
      if (hello.ok !== true) throw new Error("the owner could not connect");
      return await probe(environment, wire.request(method, {}));
    } finally {
      wire.end();
    }
  },
});
