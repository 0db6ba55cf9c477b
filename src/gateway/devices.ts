// Paired devices: who may connect with which role and scopes, decided by our record and never by what a client claims.
import { createHmac } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import { OpenClawError } from "../core/error.ts";
import { newId, newSecret, sameSecret } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import type { IssuedToken } from "../protocol/connect.ts";
import type { DeviceTokenFacts, NodeAbilities, PairedDevice, PendingDevice } from "../protocol/methods/devices.ts";
import { coversScopes, isScope, type Role } from "../protocol/scope.ts";
import type { Store } from "../store/store.ts";
import type { Hub } from "./hub.ts";
import { beyond, joined, within } from "./node-abilities.ts";

export interface DeviceToken extends DeviceTokenFacts {
  /** Part of what the token is derived from; a rotation increases it, which invalidates the old token. */
  readonly generation: number;
}

export interface Device extends Omit<PairedDevice, "tokens"> {
  readonly tokens: readonly DeviceToken[];
}

export interface PairRequest extends Omit<PendingDevice, keyof NodeAbilities> {
  /** Of a node: what it offers. */
  readonly abilities?: NodeAbilities;
}

export type Applicant = Pick<
  PairRequest,
  | "deviceId"
  | "publicKey"
  | "displayName"
  | "platform"
  | "clientId"
  | "clientMode"
  | "role"
  | "scopes"
  | "remoteIp"
  | "abilities"
>;

const REQUEST_TTL_MS = 5 * 60_000;
/** Such a request blocks no connection, and a node can stay connected for long. */
const ADDED_TTL_MS = 24 * 3_600_000;
const CODE_TTL_MS = 10 * 60_000;

export interface DeviceRegistry {
  get(deviceId: string): Promise<Device | undefined>;
  list(): Promise<{ pending: PairRequest[]; paired: Device[] }>;
  /** Records the device immediately: the owner is at this machine, or has a one-time code. */
  pair(applicant: Applicant): Promise<Device>;
  /** The pending request of this device; the same one until it is answered. */
  request(applicant: Applicant): Promise<{ request: PairRequest; created: boolean }>;
  /** What a paired node may use of what it offers now, and the request for the rest; `created` when it is new. */
  admitNode(applicant: Applicant & { readonly abilities: NodeAbilities }): Promise<AdmittedNode>;
  /** `cap` are the scopes of the approver, who cannot grant more than these. */
  approve(requestId: string, cap: readonly string[]): Promise<{ request: PairRequest; device: Device }>;
  reject(requestId: string): Promise<PairRequest>;
  /** Sets the owner's name for it. Throws `device.unknown`. */
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
  /** A code that pairs one browser once, with no more scopes than its creator has. In memory only: a restart ends it. */
  newCode(cap: readonly string[]): { code: string; expiresAtMs: number };
  /** The scopes of a code; undefined when it is not a valid code. */
  spendCode(given: string): readonly string[] | undefined;
}

export interface AdmittedNode {
  readonly abilities: NodeAbilities;
  readonly request?: PairRequest;
  readonly created: boolean;
}

export async function openDeviceRegistry(store: Store, clock: Clock): Promise<DeviceRegistry> {
  const { devices } = store;
  const get = async (deviceId: string): Promise<Device | undefined> =>
    (await devices.get(deviceId)) as Device | undefined;
  const pending = async (requestId: string): Promise<PairRequest> => {
    const found = (await devices.pending.list(clock.now())).find(
      (entry) => (entry as PairRequest).requestId === requestId,
    );
    if (found === undefined)
      throw new OpenClawError("device.unknown-request", "unknown requestId", { hint: "openclaw devices list" });
    return found as PairRequest;
  };

  const admit = async (applicant: Applicant, ts: number): Promise<Device> => {
    const before = await get(applicant.deviceId);
    const device = mergeDevice(before, applicant, ts, clock.now());
    await devices.put(device.deviceId, device);
    return device;
  };

  const ask = async (
    applicant: Applicant,
    added?: NodeAbilities,
  ): Promise<{ request: PairRequest; created: boolean }> => {
    const now = clock.now();
    const wanted = { ...applicant, ...(added === undefined ? {} : { added }) };
    const mine = ((await devices.pending.list(now)) as PairRequest[]).filter((entry) => isSameRequest(entry, wanted));
    const waiting = mine.find((entry) => isSameAbilities(entry, wanted));
    if (waiting !== undefined) return { request: waiting, created: false };
    // The node offers something else now, so the earlier request no longer describes what would be approved.
    for (const { requestId } of mine) await devices.pending.delete(requestId);
    const request: PairRequest = {
      ...wanted,
      requestId: newId(),
      roles: [applicant.role],
      silent: false,
      isRepair: (await get(applicant.deviceId)) !== undefined,
      ts: now,
    };
    const expiresAt = now + (added === undefined ? REQUEST_TTL_MS : ADDED_TTL_MS);
    await devices.pending.put({ requestId: request.requestId, deviceId: request.deviceId, expiresAt, body: request });
    return { request, created: true };
  };

  /** Adds only what the owner was shown: name, token and scopes stay. */
  const widen = async ({ deviceId }: PairRequest, added: NodeAbilities): Promise<Device> => {
    const before = await get(deviceId);
    if (before === undefined) throw new OpenClawError("device.unknown", "unknown deviceId");
    const device = { ...before, abilities: joined(before.abilities, added), approvedAtMs: clock.now() };
    await devices.put(deviceId, device);
    return device;
  };

  return {
    ...createTokens(store, clock, get),
    ...createPairingCodes(clock),
    get,
    async list() {
      const [waiting, paired] = await Promise.all([devices.pending.list(clock.now()), devices.list()]);
      return { pending: waiting as PairRequest[], paired: paired as Device[] };
    },
    pair: (applicant) => admit(applicant, clock.now()),
    request: (applicant) => ask(applicant),
    async admitNode(applicant) {
      const known = await get(applicant.deviceId);
      const { abilities: offered } = applicant;
      if (known === undefined) throw new OpenClawError("device.unknown", "unknown deviceId");
      // Approved before abilities were recorded: what it offers now counts as approved.
      if (known.abilities === undefined) {
        await devices.put(known.deviceId, { ...known, abilities: joined(undefined, offered) });
        return { abilities: offered, created: false };
      }
      const added = beyond(offered, known.abilities);
      const abilities = within(offered, known.abilities);
      return added === undefined ? { abilities, created: false } : { abilities, ...(await ask(applicant, added)) };
    },
    async approve(requestId, cap) {
      const request = await pending(requestId);
      if (!coversScopes(cap, request.scopes)) {
        throw new OpenClawError(
          "device.beyond-approver",
          `this request asks for ${request.scopes.join(", ")}, which is more than your own scopes`,
          {
            hint: "approve it from a client with operator.admin",
          },
        );
      }
      const device =
        request.added === undefined ? await admit(request, request.ts) : await widen(request, request.added);
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
        throw new OpenClawError("device.unknown", "unknown deviceId", { hint: "openclaw devices list" });
      await devices.put(deviceId, { ...device, displayName });
    },
  };
}

/** Tokens are derived from a secret and the device, not stored: a copy of the device rows contains none. */
function createTokens(
  { devices, kv }: Store,
  clock: Clock,
  get: DeviceRegistry["get"],
): Pick<DeviceRegistry, "isToken" | "tokenFor" | "rotate" | "revoke"> {
  let tokenSecret: string | undefined;

  const secret = async (): Promise<string> => {
    tokenSecret ??= (await kv.get("gateway", "device-token-secret")) as string | undefined;
    if (tokenSecret !== undefined) return tokenSecret;
    tokenSecret = newSecret(32);
    await kv.set("gateway", "device-token-secret", tokenSecret);
    return tokenSecret;
  };

  const tokenOf = async (deviceId: string, { role, generation }: DeviceToken): Promise<string> =>
    createHmac("sha256", await secret())
      .update(`${deviceId}|${role}|${generation}`)
      .digest("hex")
      .slice(0, 32);

  const tokenEntry = async (deviceId: string, role: string): Promise<{ device: Device; entry: DeviceToken }> => {
    const device = await get(deviceId);
    const entry = device?.tokens.find((token) => token.role === role);
    if (device === undefined || entry === undefined)
      throw new OpenClawError("device.unknown", "unknown deviceId/role", { hint: "openclaw devices list" });
    return { device, entry };
  };

  const putToken = async (device: Device, entry: DeviceToken): Promise<void> =>
    devices.put(device.deviceId, {
      ...device,
      tokens: device.tokens.map((token) => (token.role === entry.role ? entry : token)),
    });

  return {
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
        throw new OpenClawError(
          "device.beyond-record",
          "a token cannot have more scopes than its device was approved for, or than you have",
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
  };
}

function createPairingCodes(clock: Clock): Pick<DeviceRegistry, "newCode" | "spendCode"> {
  const codes = new Map<string, { readonly expiresAtMs: number; readonly cap: readonly string[] }>();
  return {
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

/** The record after an approval: roles and scopes add up, and earlier ones stay. */
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
    ...(applicant.abilities === undefined
      ? before?.abilities === undefined
        ? {}
        : { abilities: before.abilities }
      : { abilities: joined(before?.abilities, applicant.abilities) }),
  };
}

type Request = Applicant & Pick<PairRequest, "added">;

function isSameRequest(waiting: PairRequest, request: Request): boolean {
  return (
    waiting.deviceId === request.deviceId &&
    waiting.role === request.role &&
    waiting.scopes.join() === request.scopes.join() &&
    (waiting.added === undefined) === (request.added === undefined)
  );
}

const isSameAbilities = (waiting: PairRequest, request: Request): boolean =>
  isDeepStrictEqual([waiting.abilities, waiting.added], [request.abilities, request.added]);

function union(left: readonly string[], right: readonly string[]): string[] {
  return [...new Set([...left, ...right])];
}

/** For the wire: the abilities of a node are beside the other fields, as recorded. */
export function toWireRequest({ abilities, ...request }: PairRequest): PendingDevice {
  return { ...request, ...abilities };
}

/** Tells every client that may answer: as a device request, and for a node also as a node request. */
export function announcePairRequest(hub: Pick<Hub, "broadcast">, request: PairRequest): void {
  const { requestId, deviceId: nodeId, displayName, platform, abilities, silent, isRepair, ts } = request;
  hub.broadcast("device.pair.requested", toWireRequest(request), { needs: "operator.pairing" });
  if (request.role !== "node") return;
  const facts = { requestId, nodeId, ...(displayName === undefined ? {} : { displayName }), platform };
  hub.broadcast(
    "node.pair.requested",
    { ...facts, caps: abilities?.caps ?? [], commands: abilities?.commands ?? [], silent, isRepair, ts },
    { needs: "operator.pairing" },
  );
}

/** For the wire: without the values that tokens are derived from. */
export function toWireDevice({ tokens, ...device }: Device): PairedDevice {
  return { ...device, tokens: tokens.map(({ generation: _hidden, ...token }) => token) };
}
