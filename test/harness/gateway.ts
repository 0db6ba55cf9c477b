// What tests through the front door share: a real gateway in its own process and home, and clients that speak to it.
import { spawn, type ChildProcess } from "node:child_process";
import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { WebSocket, type ClientOptions } from "ws";

import type { MethodName, MethodResult } from "../../src/protocol/method-map.ts";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const shared = join(root, "..", "shared");
/** Why a test that needs the reference material is left out, or false when it is there. */
export const noShared: string | false = existsSync(join(shared, "golden"))
  ? false
  : "needs ../shared, which is not beside this clone";

export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly home: string;
  readonly state: string;
  readonly workspace: string;
  readonly pid: number;
  readonly process: ChildProcess;
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface GatewayPlan {
  readonly config?: Record<string, unknown>;
  readonly home?: string;
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
  /** A program that starts it, with its arguments; such as one that hides part of this machine. */
  readonly under?: readonly string[];
  /** The package to start instead of this one. */
  readonly project?: string;
}

/** What a test that failed half-way left: neither a gateway nor a folder outlives the file that made it. */
const started = new Set<ChildProcess>();
const homes = new Set<string>();
const endGateways = (): void => {
  for (const child of started) child.kill("SIGKILL");
};
// Behind the hooks of the file itself; without it a gateway that was left would keep the file from ending.
if (process.env["NODE_TEST_CONTEXT"] !== undefined) queueMicrotask(() => after(endGateways));
process.once("exit", () => {
  endGateways();
  for (const home of homes) {
    try {
      rmSync(home, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
    } catch {
      // Something in it is still in use; it is in the temporary folder after all.
    }
  }
});

export function tempHome(): string {
  const home = mkdtempSync(join(tmpdir(), "openclaw-test-"));
  homes.add(home);
  return home;
}

/** A gateway also listens on the ports 2 and 3 above its own, so they are given in steps of 4. */
const PORTS = { first: 20_000, count: 12_000, step: 4 };
/** `<number>/<of>`: the share of the ports that the runner gives to this process, so that no other file takes them. */
const [slot = 0, slots = 1] = (process.env["OPENCLAW_TEST_SLOT"] ?? `${process.pid % 120}/120`).split("/").map(Number);
const portsHere = Math.floor(PORTS.count / slots / PORTS.step);
let portsGiven = Math.floor(Math.random() * portsHere);

/**
 * A port that is free now and stays so until the caller binds it: the system gives others (they start at 32768), and
 * test files that run at the same time choose among different ones.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + (slot * portsHere + (portsGiven++ % portsHere)) * PORTS.step;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Starts `openclaw gateway run` as a user would and waits until it answers. */
export async function startGateway(plan: GatewayPlan = {}): Promise<TestGateway> {
  const home = plan.home ?? tempHome();
  const state = join(home, ".openclaw");
  const token = "test-token-0123456789abcdef";
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const configFile = join(state, "openclaw.json");
  const config = {
    ...plan.config,
    gateway: {
      mode: "local",
      port: await freePort(),
      auth: { mode: "token", token },
      ...(plan.config?.["gateway"] as object | undefined),
    },
  };
  if (plan.config !== undefined || !existsSync(configFile))
    writeFileSync(configFile, JSON.stringify(config, null, 2), { mode: 0o600 });
  const line = [process.execPath, join(plan.project ?? root, "openclaw.mjs"), "gateway", "run", ...(plan.args ?? [])];
  const [program = process.execPath, ...words] = [...(plan.under ?? []), ...line];
  const child = spawn(program, words, {
    cwd: home,
    // Tests send nothing to the network of this machine.
    env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1", OPENCLAW_DISABLE_BONJOUR: "1", ...plan.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  let output = "";
  const exited = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  void exited.then(() => started.delete(child));
  const port = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const match = /listening on http:\/\/[^\s:]+:(\d+)/.exec(output);
      if (match !== null) resolve(Number(match[1]));
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    void exited.then((code) => reject(new Error(`the gateway ended with ${code} before it listened:\n${output}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    token,
    home,
    state,
    workspace: join(state, "workspace"),
    pid: child.pid ?? 0,
    process: child,
    output: () => output,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}

/** Stops a gateway and removes its home. */
export async function dispose(gateway: TestGateway): Promise<void> {
  await gateway.stop("SIGKILL");
  // What it had started may still write for a moment.
  rmSync(gateway.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

export interface Invoked {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** POST /tools/invoke. */
export async function invoke(
  gateway: TestGateway,
  tool: string,
  args?: unknown,
  extra: { headers?: Record<string, string>; body?: object } = {},
): Promise<Invoked> {
  const response = await fetch(`${gateway.url}/tools/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json", ...extra.headers },
    body: JSON.stringify({ tool, args, ...extra.body }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export interface Identity {
  readonly id: string;
  readonly publicKey: string;
  readonly key: KeyObject;
}

export function newIdentity(): Identity {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  return { id: createHash("sha256").update(raw).digest("hex"), publicKey: raw.toString("base64url"), key: privateKey };
}

export interface ConnectPlan {
  readonly token?: string | undefined;
  readonly identity?: Identity | null;
  readonly client?: Record<string, unknown>;
  readonly role?: string;
  readonly scopes?: readonly string[];
  readonly protocol?: readonly [number, number];
  readonly signedAt?: number;
  readonly nonce?: string;
  readonly extra?: Record<string, unknown>;
}

export const allScopes = ["operator.admin", "operator.approvals", "operator.pairing"];

/** The parameters a real client sends, signed. */
export function connectParams(plan: ConnectPlan, nonce: string): Record<string, unknown> {
  const client = { id: "gateway-client", version: "test", platform: "linux", mode: "backend", ...plan.client };
  const role = plan.role ?? "operator";
  const scopes = plan.scopes ?? allScopes;
  const params: Record<string, unknown> = {
    minProtocol: plan.protocol?.[0] ?? 3,
    maxProtocol: plan.protocol?.[1] ?? 3,
    client,
    caps: [],
    role,
    scopes,
    ...(plan.token === undefined ? {} : { auth: { token: plan.token } }),
  };
  const { identity } = plan;
  if (identity !== null && identity !== undefined) {
    const signedAt = plan.signedAt ?? Date.now();
    const signedNonce = plan.nonce ?? nonce;
    const text = [
      "v2",
      identity.id,
      client.id,
      client.mode,
      role,
      scopes.join(","),
      String(signedAt),
      plan.token ?? "",
      signedNonce,
    ].join("|");
    params["device"] = {
      id: identity.id,
      publicKey: identity.publicKey,
      signature: sign(null, Buffer.from(text), identity.key).toString("base64url"),
      signedAt,
      nonce: signedNonce,
    };
  }
  return { ...params, ...plan.extra };
}

export interface Frame<Payload = unknown> {
  readonly type: string;
  readonly id?: string;
  readonly ok?: boolean;
  readonly event?: string;
  readonly seq?: number;
  readonly payload?: Payload;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown };
}

/** What a method answers with; unknown for a name that the protocol does not have. */
export type Answer<Name extends string> = Name extends MethodName ? MethodResult<Name> : unknown;

/** The facts of a refusal. */
export function detailsOf(frame: Frame): Record<string, unknown> {
  return (frame.error?.details ?? {}) as Record<string, unknown>;
}

/** A socket to the gateway that keeps all it hears. */
export class Wire {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly challenge: Promise<string>;
  readonly #waiting = new Map<string, (frame: Frame) => void>();
  #ended = false;

  constructor(port: number, options: ClientOptions & { path?: string } = {}) {
    const { path = "/", ...rest } = options;
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, rest);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.challenge = promise;
    this.challenge.catch(() => {});
    this.closed = new Promise((done) => {
      this.socket.on("close", (code, reason) => {
        this.#ended = true;
        reject(new Error(`closed ${code} ${reason.toString()}`));
        for (const settle of this.#waiting.values()) settle({ type: "closed" });
        done({ code, reason: reason.toString() });
      });
    });
    this.socket.on("error", (error) => reject(error));
    this.socket.on("message", (bytes: Buffer) => {
      const frame = JSON.parse(bytes.toString()) as Frame;
      if (frame.event === "connect.challenge") return resolve((frame.payload as { nonce: string }).nonce);
      this.frames.push(frame);
      if (frame.type === "res" && frame.id !== undefined) this.#waiting.get(frame.id)?.(frame);
    });
  }

  /** The response frame, or `{type: "closed"}` when the socket ended first. */
  request<Name extends string>(
    method: Name,
    params?: unknown,
    id: string = randomUUID(),
  ): Promise<Frame<Answer<Name>>> {
    if (this.#ended) return Promise.resolve({ type: "closed" });
    return new Promise((resolve) => {
      this.#waiting.set(id, (frame) => {
        this.#waiting.delete(id);
        resolve(frame as Frame<Answer<Name>>);
      });
      this.socket.send(JSON.stringify({ type: "req", id, method, ...(params === undefined ? {} : { params }) }));
    });
  }

  /** The result of a method; throws when it is refused. */
  async call<Name extends MethodName>(method: Name, params?: unknown): Promise<MethodResult<Name>> {
    const { ok, payload, error } = await this.request(method, params);
    if (ok !== true) throw new Error(`${method} refused: ${JSON.stringify(error)}`);
    return payload as MethodResult<Name>;
  }

  async connect(plan: ConnectPlan): Promise<Frame> {
    return this.request("connect", connectParams(plan, await this.challenge));
  }

  send(text: string | Buffer): void {
    this.socket.send(text);
  }

  async event(name: string, timeoutMs = 60_000): Promise<Frame> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const found = this.frames.find((frame) => frame.event === name);
      if (found !== undefined) return found;
      if (Date.now() > until) throw new Error(`no ${name} event within ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  end(): void {
    this.socket.terminate();
  }
}

/** A connected operator; throws when refused. */
export async function operator(gateway: Pick<TestGateway, "port" | "token">, plan: ConnectPlan = {}): Promise<Wire> {
  const wire = new Wire(gateway.port);
  const answer = await wire.connect({ token: gateway.token, identity: newIdentity(), ...plan });
  if (answer.ok !== true) throw new Error(`refused: ${JSON.stringify(answer)}`);
  return wire;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `openclaw …` with its own home. */
export function openclaw(home: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, "openclaw.mjs"), ...args], {
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
