// Paired devices: who may connect as what, decided by our record and never by what a client claims.
import { createHmac } from "node:crypto";

import { HouseError } from "../core/error.ts";
import { newId, newSecret, sameSecret } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import { coversScopes, isScope, type Role } from "../protocol/scope.ts";
import type { Store } from "../store/store.ts";

export interface DeviceToken {
  readonly role: Role;
  readonly scopes: readonly string[];
  /** Part of what the token is made from; a rotation raises it and so ends the old token. */
  readonly generation: number;
  readonly createdAtMs: number;
  readonly rotatedAtMs?: number;
  readonly revokedAtMs?: number;
  readonly lastUsedAtMs?: number;
}

export interface Device {
  readonly deviceId: string;
  readonly publicKey: string;
  readonly displayName?: string;
  readonly platform: string;
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: Role;
  readonly roles: readonly Role[];
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
  readonly approvedAtMs: number;
  readonly tokens: readonly DeviceToken[];
}

export interface PairRequest {
  readonly requestId: string;
  readonly deviceId: string;
  readonly publicKey: string;
  readonly displayName?: string;
  readonly platform: string;
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: Role;
  readonly roles: readonly Role[];
  readonly scopes: readonly string[];
  readonly remoteIp?: string;
  readonly silent: boolean;
  readonly isRepair: boolean;
  readonly ts: number;
}

export type Applicant = Pick<
  PairRequest,
  "deviceId" | "publicKey" | "displayName" | "platform" | "clientId" | "clientMode" | "role" | "scopes" | "remoteIp"
>;

export interface IssuedToken {
  readonly deviceToken: string;
  readonly role: Role;
  readonly scopes: readonly string[];
  readonly issuedAtMs: number;
}

const REQUEST_TTL_MS = 5 * 60_000;
const CODE_TTL_MS = 10 * 60_000;

export interface DeviceBook {
  get(deviceId: string): Promise<Device | undefined>;
  list(): Promise<{ pending: PairRequest[]; paired: Device[] }>;
  /** Records the device at once: the owner sits at this machine, or holds a one-time code. */
  pair(applicant: Applicant): Promise<Device>;
  /** The pending request of this device; the same one while it waits. */
  request(applicant: Applicant): Promise<{ request: PairRequest; created: boolean }>;
  /** `cap` are the approver's own scopes: nobody hands out more than they hold. */
  approve(requestId: string, cap: readonly string[]): Promise<{ request: PairRequest; device: Device }>;
  reject(requestId: string): Promise<PairRequest>;
  /** The owner's name for it. Throws `device.unknown`. */
  rename(deviceId: string, displayName: string): Promise<void>;
  isToken(device: Device, role: Role, given: string): Promise<boolean>;
  tokenFor(device: Device, role: Role): Promise<IssuedToken | undefined>;
  rotate(
    deviceId: string,
    role: string,
    scopes: readonly string[] | undefined,
    cap: readonly string[],
  ): Promise<{ token: string; entry: DeviceToken }>;
  revoke(deviceId: string, role: string): Promise<number>;
  /** A code that pairs one browser once, for no more than who made it holds. Kept in memory: a restart ends it. */
  newCode(cap: readonly string[]): { code: string; expiresAtMs: number };
  /** What it may be used for; undefined when it is no code. */
  spendCode(given: string): readonly string[] | undefined;
}

export async function openDeviceBook(store: Store, clock: Clock): Promise<DeviceBook> {
  const { devices, kv } = store;
  const codes = new Map<string, { readonly expiresAtMs: number; readonly cap: readonly string[] }>();
  let tokenSecret: string | undefined;

  const secret = async (): Promise<string> => {
    tokenSecret ??= (await kv.get("gateway", "device-token-secret")) as string | undefined;
    if (tokenSecret !== undefined) return tokenSecret;
    tokenSecret = newSecret(32);
    await kv.set("gateway", "device-token-secret", tokenSecret);
    return tokenSecret;
  };

  /** Tokens are made, not stored: a copy of the database's device rows holds none. */
  const tokenOf = async (deviceId: string, { role, generation }: DeviceToken): Promise<string> =>
    createHmac("sha256", await secret())
      .update(`${deviceId}|${role}|${generation}`)
      .digest("hex")
      .slice(0, 32);

  const get = async (deviceId: string): Promise<Device | undefined> =>
    (await devices.get(deviceId)) as Device | undefined;
  const pending = async (requestId: string): Promise<PairRequest> => {
    const found = (await devices.pending.list(clock.now())).find(
      (entry) => (entry as PairRequest).requestId === requestId,
    );
    if (found === undefined)
      throw new HouseError("device.unknown-request", "unknown requestId", { hint: "openclaw devices list" });
    return found as PairRequest;
  };

  const admit = async (applicant: Applicant, ts: number): Promise<Device> => {
    const before = await get(applicant.deviceId);
    const device = mergeDevice(before, applicant, ts, clock.now());
    await devices.put(device.deviceId, device);
    return device;
  };

  const tokenEntry = async (deviceId: string, role: string): Promise<{ device: Device; entry: DeviceToken }> => {
    const device = await get(deviceId);
    const entry = device?.tokens.find((token) => token.role === role);
    if (device === undefined || entry === undefined)
      throw new HouseError("device.unknown", "unknown deviceId/role", { hint: "openclaw devices list" });
    return { device, entry };
  };

  const putToken = async (device: Device, entry: DeviceToken): Promise<void> =>
    devices.put(device.deviceId, {
      ...device,
      tokens: device.tokens.map((token) => (token.role === entry.role ? entry : token)),
    });

  return {
    get,
    async list() {
      const [waiting, paired] = await Promise.all([devices.pending.list(clock.now()), devices.list()]);
      return { pending: waiting as PairRequest[], paired: paired as Device[] };
    },
    pair: (applicant) => admit(applicant, clock.now()),
    async request(applicant) {
      const waiting = (await devices.pending.list(clock.now())).find((entry) =>
        isSameWish(entry as PairRequest, applicant),
      );
      if (waiting !== undefined) return { request: waiting as PairRequest, created: false };
      const known = await get(applicant.deviceId);
      const now = clock.now();
      const request: PairRequest = {
        ...applicant,
        requestId: newId(),
        roles: [applicant.role],
        silent: false,
        isRepair: known !== undefined,
        ts: now,
      };
      await devices.pending.put({
        requestId: request.requestId,
        deviceId: request.deviceId,
        expiresAt: now + REQUEST_TTL_MS,
        body: request,
      });
      return { request, created: true };
    },
    async approve(requestId, cap) {
      const request = await pending(requestId);
      if (!coversScopes(cap, request.scopes)) {
        throw new HouseError(
          "device.beyond-approver",
          `this request asks for ${request.scopes.join(", ")}, more than you hold`,
          {
            hint: "approve it from a client with operator.admin",
          },
        );
      }
      const device = await admit(request, request.ts);
      await devices.pending.delete(requestId);
      return { request, device };
    },
    async reject(requestId) {
      const request = await pending(requestId);
      await devices.pending.delete(requestId);
      return request;
    },
    async rename(deviceId, displayName) {
      const device = await get(deviceId);
      if (device === undefined)
        throw new HouseError("device.unknown", "unknown deviceId", { hint: "openclaw devices list" });
      await devices.put(deviceId, { ...device, displayName });
    },
    async isToken(device, role, given) {
      const entry = device.tokens.find((token) => token.role === role);
      if (entry === undefined || entry.revokedAtMs !== undefined) return false;
      return sameSecret(given, await tokenOf(device.deviceId, entry));
    },
    async tokenFor(device, role) {
      const entry = device.tokens.find((token) => token.role === role);
      if (entry === undefined || entry.revokedAtMs !== undefined) return undefined;
      const issuedAtMs = entry.rotatedAtMs ?? entry.createdAtMs;
      return { deviceToken: await tokenOf(device.deviceId, entry), role, scopes: entry.scopes, issuedAtMs };
    },
    async rotate(deviceId, role, scopes, cap) {
      const { device, entry } = await tokenEntry(deviceId, role);
      const wanted = scopes ?? entry.scopes;
      if (!coversScopes(device.scopes, wanted) || !coversScopes(cap, wanted)) {
        throw new HouseError(
          "device.beyond-record",
          "a token cannot hold more than its device was approved for, nor more than you hold",
          {
            hint: "pair the device again with the wider scopes",
          },
        );
      }
      const { revokedAtMs: _ended, ...kept } = entry;
      const next: DeviceToken = { ...kept, scopes: wanted, generation: entry.generation + 1, rotatedAtMs: clock.now() };
      await putToken(device, next);
      return { token: await tokenOf(deviceId, next), entry: next };
    },
    async revoke(deviceId, role) {
      const { device, entry } = await tokenEntry(deviceId, role);
      const revokedAtMs = clock.now();
      await putToken(device, { ...entry, revokedAtMs });
      return revokedAtMs;
    },
    newCode(cap) {
      const now = clock.now();
      for (const [code, { expiresAtMs }] of codes) if (expiresAtMs < now) codes.delete(code);
      const code = `pair-${newSecret(16)}`;
      const expiresAtMs = now + CODE_TTL_MS;
      codes.set(code, { expiresAtMs, cap });
      return { code, expiresAtMs };
    },
    spendCode(given) {
      const now = clock.now();
      const match = [...codes].find(([code, { expiresAtMs }]) => expiresAtMs >= now && sameSecret(given, code));
      if (match === undefined) return undefined;
      codes.delete(match[0]);
      return match[1].cap;
    },
  };
}

/** The record after an approval: roles and scopes add up, what was approved before stays. */
function mergeDevice(before: Device | undefined, applicant: Applicant, ts: number, now: number): Device {
  const scopes = union(before?.scopes ?? [], applicant.scopes.filter(isScope));
  const roles = union(before?.roles ?? [], [applicant.role]) as Role[];
  const old = before?.tokens.find((token) => token.role === applicant.role);
  const token: DeviceToken = {
    role: applicant.role,
    scopes: applicant.role === "node" ? [] : scopes,
    generation: old === undefined ? 1 : old.revokedAtMs === undefined ? old.generation : old.generation + 1,
    createdAtMs: old?.createdAtMs ?? now,
  };
  return {
    deviceId: applicant.deviceId,
    publicKey: applicant.publicKey,
    ...(applicant.displayName === undefined ? {} : { displayName: applicant.displayName }),
    platform: applicant.platform,
    clientId: applicant.clientId,
    clientMode: applicant.clientMode,
    role: applicant.role,
    roles,
    scopes,
    createdAtMs: before?.createdAtMs ?? ts,
    approvedAtMs: now,
    tokens: [...(before?.tokens ?? []).filter(({ role }) => role !== applicant.role), token],
  };
}

function isSameWish(waiting: PairRequest, applicant: Applicant): boolean {
  return (
    waiting.deviceId === applicant.deviceId &&
    waiting.role === applicant.role &&
    waiting.scopes.join() === applicant.scopes.join()
  );
}

function union(left: readonly string[], right: readonly string[]): string[] {
  return [...new Set([...left, ...right])];
}

/** For the wire: without what tokens are made from. */
export function toWireDevice({ tokens, ...device }: Device): Record<string, unknown> {
  return { ...device, tokens: tokens.map(({ generation: _hidden, ...token }) => token) };
}
