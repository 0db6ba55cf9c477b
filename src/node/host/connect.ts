// Connects a node with its token or the shared secret, and classifies a refusal for the next attempt.
import { OpenClawError } from "../../core/error.ts";
import { connectRequest, type Signer } from "../../protocol/connect-request.ts";
import { WIRE_LIMITS, type WireError } from "../../protocol/frame.ts";
import { readRefusal } from "../../protocol/refusal.ts";

import { systemClock } from "../../base/clock.ts";
import { readVersion } from "../../base/version.ts";
import { BROWSER_PROXY } from "../browser-target.ts";
import type { NodeState } from "./state.ts";
import type { HostWire } from "./wire-port.ts";

export interface Secret {
  readonly token?: string | undefined;
  readonly password?: string | undefined;
}

export interface ConnectFacts {
  readonly identity: Signer;
  readonly state: NodeState;
  /** The PATH of commands on this node. */
  readonly pathEnv: string;
  readonly secret: Secret;
  /** Names of the offered commands. */
  readonly commands: readonly string[];
}

export interface Hello {
  readonly deviceToken: string | undefined;
  readonly maxFrameBytes: number;
  readonly tickMs: number;
}

/** A refusal, by what can be done about it. */
export type Refusal =
  | { readonly kind: "pairing"; readonly requestId: string | undefined }
  | { readonly kind: "own-token" }
  | { readonly kind: "later"; readonly why: string }
  | { readonly kind: "final"; readonly error: OpenClawError };

export type Connected =
  | { readonly ok: true; readonly hello: Hello }
  | { readonly ok: false; readonly refusal: Refusal };

const CONNECT_MS = 15_000;
/** Timers are limited to 24 days and fire immediately beyond that. */
const LONGEST_TICK_MS = 600_000;

/** Throws OpenClawError when the gateway does not answer. */
export async function connectNode(wire: HostWire, facts: ConnectFacts): Promise<Connected> {
  const answer = await wire.request("connect", connectParams(facts, await wire.challenge), CONNECT_MS);
  if (answer.ok) return { ok: true, hello: helloOf(answer.payload) };
  return { ok: false, refusal: refusalOf(answer.error, facts) };
}

function connectParams(facts: ConnectFacts, nonce: string): Record<string, unknown> {
  const { identity, state, pathEnv, secret, commands } = facts;
  const request = connectRequest({
    client: {
      id: "node-host",
      displayName: state.displayName,
      version: readVersion(),
      platform: process.platform === "darwin" ? "macos" : process.platform,
      mode: "node",
      instanceId: state.nodeId,
    },
    role: "node",
    scopes: [],
    caps: ["system", ...(commands.includes(BROWSER_PROXY) ? ["browser"] : [])],
    identity,
    nonce,
    signedAt: systemClock.now(),
    // Prefers the device token, so that the shared secret is not sent.
    token: state.token ?? secret.token,
    password: secret.password,
  });
  return { ...request, commands, pathEnv };
}

function helloOf(payload: unknown): Hello {
  const answer = (payload ?? {}) as { auth?: { deviceToken?: unknown }; policy?: Record<string, unknown> };
  const limit = (name: "maxPayload" | "tickIntervalMs"): number => {
    const value = answer.policy?.[name];
    return typeof value === "number" && value > 0 ? value : WIRE_LIMITS[name];
  };
  const token = answer.auth?.deviceToken;
  return {
    deviceToken: typeof token === "string" && token !== "" ? token : undefined,
    maxFrameBytes: limit("maxPayload"),
    tickMs: Math.min(limit("tickIntervalMs"), LONGEST_TICK_MS),
  };
}

function refusalOf(refused: WireError, { state, secret }: ConnectFacts): Refusal {
  const { code, message } = refused;
  const refusal = readRefusal(refused);
  if (refusal.kind === "pairing-required") return { kind: "pairing", requestId: refusal.requestId };
  if (refusal.kind === "throttled" || code === "UNAVAILABLE") return { kind: "later", why: message };
  const isAboutSecret = refusal.kind === "secret-missing" || refusal.kind === "secret-mismatch";
  if (isAboutSecret && state.token !== undefined) return { kind: "own-token" };
  const hint = isAboutSecret
    ? "set OPENCLAW_GATEWAY_TOKEN to the gateway.auth.token of that gateway, or pass it with --token"
    : "openclaw logs on the machine of the gateway";
  const has = secret.token !== undefined || secret.password !== undefined;
  const text = isAboutSecret && !has ? "it requires a token or password, and none is set here" : message;
  return {
    kind: "final",
    error: new OpenClawError(
      isAboutSecret ? "gateway.unauthorized" : "gateway.refused",
      `the gateway rejected this node: ${text}`,
      { hint },
    ),
  };
}
