// A connection to a gateway: signed connect, requests, and errors with hints.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import { systemClock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { readLockOwner, stateLockOf } from "../base/lock.ts";
import { readVersion } from "../base/version.ts";
import type { HelloOk } from "../protocol/connect.ts";
import { connectRequest, type Signer } from "../protocol/connect-request.ts";
import type { MethodName, MethodParams, MethodResult } from "../protocol/method-map.ts";
import { keepDeviceToken, openIdentity, readDeviceToken } from "./identity.ts";
import type { Io } from "./io.ts";
import { refusedConnect, toCallError } from "./client-failure.ts";
import type { Target } from "./target.ts";
import { openWire, type EventListener } from "./wire.ts";

export interface CallOptions {
  readonly timeoutMs?: number;
  /** Wait for the second response of methods that first return `accepted`. */
  readonly expectFinal?: boolean;
}

export interface GatewayClient {
  readonly hello: HelloOk;
  /** Throws OpenClawError with the code and hint of the gateway. */
  call<N extends MethodName>(method: N, params: MethodParams<N>, options?: CallOptions): Promise<MethodResult<N>>;
  /** Like `call`, for a method that the user names. */
  callByName(method: string, params: unknown, options?: CallOptions): Promise<unknown>;
  /** Every event from now on; returns how to stop listening. */
  readonly onEvent: (listener: EventListener) => () => void;
  /** Rejects when the connection ends unexpectedly; never resolves. */
  readonly ended: Promise<never>;
  readonly close: () => void;
}

export interface ClientRequests {
  /** Additional capabilities of this client, such as `tool-events`. */
  readonly caps?: readonly string[];
}

const scopes = ["operator.admin", "operator.approvals", "operator.pairing"];

export async function connectGateway(
  io: Io,
  target: Target,
  { caps = [] }: ClientRequests = {},
): Promise<GatewayClient> {
  try {
    const identity = openIdentity(io.paths().state);
    return await retryWhileStarting(io, target, () => connectAs(io, target, identity, caps));
  } catch (error) {
    // When the gateway is bound to another address, it treats its own owner as unknown, and only the owner could approve. A
    // full disk has no space for a new device key, here or in the gateway, but the owner must still be able to connect.
    const isOwner = target.isLocal && (target.token ?? target.password) !== undefined;
    if (!isOwner || !(error instanceof OpenClawError) || !withoutDevice.has(error.code)) throw error;
    return retryWhileStarting(io, target, () => connectAs(io, target, undefined, caps));
  }
}

const withoutDevice: ReadonlySet<string> = new Set(["gateway.not-paired", "file.full", "store.full"]);

const LOOK_AGAIN_MS = 100;
/** When the process restarts in place, the lock is free for a moment. */
const BETWEEN_LIVES_MS = 1000;

/** Waits for a gateway of this machine that is starting or restarting; no request was sent yet. */
async function retryWhileStarting<T>(io: Io, target: Target, connect: () => Promise<T>): Promise<T> {
  const lock = stateLockOf(io.paths().state);
  const until = systemClock.now() + target.timeoutMs;
  let aliveAt = readLockOwner(lock) === undefined ? undefined : systemClock.now();
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (!target.isLocal || !isPassing(error) || systemClock.now() > until) throw error;
      await sleep(LOOK_AGAIN_MS);
      const now = systemClock.now();
      if (readLockOwner(lock) !== undefined) aliveAt = now;
      const isGone = aliveAt === undefined || now - aliveAt > BETWEEN_LIVES_MS;
      if (isGone) throw error;
    }
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof OpenClawError && (error.code === "gateway.down" || error.code === "gateway.restarting");

/** Without a device identity, the shared secret must be enough. */
async function connectAs(
  io: Io,
  target: Target,
  identity: Signer | undefined,
  caps: readonly string[],
): Promise<GatewayClient> {
  const wire = await openWire(target);
  try {
    const nonce = await wire.challenge;
    const kept = identity === undefined ? undefined : keptToken(io, target, identity);
    const token = target.token ?? kept;
    const params = connectRequest({
      client: { id: "cli", version: readVersion(), platform: process.platform, mode: "cli", instanceId: newId() },
      role: "operator",
      scopes,
      caps,
      identity,
      nonce,
      signedAt: systemClock.now(),
      token,
      password: target.password,
    });
    const answer = await wire.request("connect", params, target.timeoutMs);
    if (!answer.ok) throw refusedConnect(answer.error, target, { usedDeviceToken: kept !== undefined });
    const hello = answer.payload as HelloOk;
    if (identity !== undefined) keepIssued(io, target, identity, kept, hello);
    const callByName: GatewayClient["callByName"] = async (method, callParams, options = {}) => {
      const { timeoutMs = target.timeoutMs, expectFinal = false } = options;
      const response = await wire.request(method, callParams, timeoutMs, expectFinal);
      if (response.ok) return response.payload;
      throw toCallError(response.error, method);
    };
    return {
      hello,
      call: async (method, callParams, options) =>
        (await callByName(method, callParams, options)) as MethodResult<typeof method>,
      callByName,
      onEvent: wire.onEvent,
      ended: wire.ended,
      close: wire.close,
    };
  } catch (error) {
    wire.close();
    throw error;
  }
}

/** Used only without a shared secret, which cannot expire unnoticed. */
function keptToken(io: Io, target: Target, { deviceId }: Signer): string | undefined {
  if (target.token !== undefined || target.password !== undefined) return undefined;
  return readDeviceToken(io.paths().state, deviceId, target.url)?.token;
}

/** Connects, calls `work`, and closes the connection in every case. */
export async function withGateway<T>(
  io: Io,
  target: Target,
  work: (client: GatewayClient) => Promise<T>,
  requests?: ClientRequests,
): Promise<T> {
  const client = await connectGateway(io, target, requests);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** Stores the issued token, which lets this device connect later without the shared secret. */
function keepIssued(io: Io, target: Target, identity: Signer, before: string | undefined, { auth }: HelloOk): void {
  if (auth === undefined || auth.deviceToken === before) return;
  const { state } = io.paths();
  if (readDeviceToken(state, identity.deviceId, target.url)?.token === auth.deviceToken) return;
  keepDeviceToken(state, identity.deviceId, target.url, { token: auth.deviceToken, scopes: auth.scopes });
}

/** True when no gateway is running, as opposed to one that refuses us. */
export function isDown(error: unknown): boolean {
  return error instanceof OpenClawError && error.code === "gateway.down";
}
