// An unauthenticated client: raw HTTP requests and a WebSocket with arbitrary frames.
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { request as httpRequest } from "node:http";

import { isRecord } from "../../core/record.ts";

const ANSWER_MS = 5000;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface HttpAsk {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Unlike `fetch`, this can send any Host and Origin. */
export function ask(port: number, { method = "GET", path, headers = {}, body }: HttpAsk): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, method, path, headers, timeout: ANSWER_MS }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() }),
      );
      answer.on("error", reject);
    });
    // A refused connection is an answer too.
    sent.on("error", (error) => resolve({ status: 0, headers: {}, text: error.message }));
    sent.on("timeout", () => sent.destroy(new Error("no answer")));
    sent.end(body);
  });
}

export interface Frame {
  readonly ok?: boolean;
  readonly payload?: unknown;
  readonly error?: unknown;
  /** The close code, when the socket was closed instead. */
  readonly closed?: number;
}

export interface Wire {
  readonly nonce: Promise<string>;
  request(method: string, params: unknown): Promise<Frame>;
  send(text: string): void;
  readonly closed: Promise<number>;
  end(): void;
}

export function openWire(port: number, headers: Readonly<Record<string, string>> = {}): Wire {
  // The standard has no headers here, but Node's client accepts them, and a forged origin needs them.
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers } as unknown as string[]);
  const waiting = new Map<string, (frame: Frame) => void>();
  const nonce = Promise.withResolvers<string>();
  const closed = Promise.withResolvers<number>();
  nonce.promise.catch(() => {});
  const end = (code: number): void => {
    nonce.reject(new Error(`closed ${code}`));
    closed.resolve(code);
    for (const settle of waiting.values()) settle({ closed: code });
  };
  socket.addEventListener("close", ({ code }) => end(code));
  socket.addEventListener("error", () => end(0));
  socket.addEventListener("message", ({ data }) => {
    const frame: unknown = JSON.parse(String(data));
    if (!isRecord(frame)) return;
    if (frame["event"] === "connect.challenge" && isRecord(frame["payload"]))
      nonce.resolve(String(frame["payload"]["nonce"]));
    if (frame["type"] === "res") waiting.get(String(frame["id"]))?.(frame);
  });
  return {
    nonce: nonce.promise,
    closed: closed.promise,
    send: (text) => socket.send(text),
    end: () => socket.close(),
    request(method, params) {
      const id = randomUUID();
      const answer = Promise.withResolvers<Frame>();
      waiting.set(id, answer.resolve);
      const timer = setTimeout(() => answer.resolve({ closed: -1 }), ANSWER_MS);
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "req", id, method, params }));
      else answer.resolve({ closed: 0 });
      return answer.promise.finally(() => clearTimeout(timer));
    },
  };
}

export interface Claim {
  readonly secret?: string | undefined;
  readonly secretKind?: "token" | "password";
  readonly scopes?: readonly string[];
  readonly role?: string;
  readonly device?: "own" | "none" | "forged" | "stale" | "replayed";
}

/** The parameters of connect, signed with a new key, or wrongly where requested. */
export function claimOf(claim: Claim, nonce: string): Record<string, unknown> {
  const { secret, secretKind = "token", scopes = ["operator.admin"], role = "operator", device = "own" } = claim;
  // Only a token is part of the signed text; a password never is.
  const signed = secretKind === "token" ? (secret ?? "") : "";
  const client = { id: "gateway-client", version: "selftest", platform: "linux", mode: "backend" };
  return {
    minProtocol: 3,
    maxProtocol: 3,
    client,
    caps: [],
    role,
    scopes,
    ...(secret === undefined ? {} : { auth: { [secretKind]: secret } }),
    ...(device === "none"
      ? {}
      : { device: deviceOf(device, nonce, [client.id, client.mode, role, scopes.join(","), signed]) }),
  };
}

function deviceOf(
  kind: NonNullable<Claim["device"]>,
  nonce: string,
  [id = "", mode = "", role = "", scopes = "", secret = ""]: readonly string[],
): Record<string, unknown> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  const name = createHash("sha256").update(raw).digest("hex");
  const signedAt = kind === "stale" ? Date.now() - 86_400_000 : Date.now();
  const used = kind === "replayed" ? randomUUID() : nonce;
  const text = ["v2", name, id, mode, role, scopes, String(signedAt), secret, used].join("|");
  const signature = sign(null, Buffer.from(kind === "forged" ? `${text}x` : text), privateKey).toString("base64url");
  return { id: name, publicKey: raw.toString("base64url"), signature, signedAt, nonce: used };
}
