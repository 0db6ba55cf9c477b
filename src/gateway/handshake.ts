// Checks a connect request in the recorded order: protocol, role, origin, device, secret, pairing.
import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";

import type { Clock } from "../base/clock.ts";
import { Lru } from "../base/lru.ts";
import { isBrowserClient, type ConnectParams, type IssuedToken } from "../protocol/connect.ts";
import { CLOSE, PROTOCOL_VERSION, type WireError } from "../protocol/frame.ts";
import { refusalTexts } from "../protocol/refusal.ts";
import { signedText } from "../protocol/signature.ts";
import { coversScopes, isScope, type Role } from "../protocol/scope.ts";
import type { NodeAbilities } from "../protocol/methods/devices.ts";
import { offeredBy } from "./node-abilities.ts";
import type { Applicant, Device, DeviceRegistry, PairRequest } from "./devices.ts";
import { isOurHost, isOurOrigin, type Peer, type PeerRules } from "./peer.ts";
import { isGuessable, knowsSecret, type SharedSecret } from "./secret.ts";
import { callerOf, callerOfDevice, type Throttle } from "./throttle.ts";

export interface Admitted {
  readonly ok: true;
  readonly role: Role;
  readonly scopes: readonly string[];
  readonly deviceId: string | undefined;
  readonly issued: IssuedToken | undefined;
  /** Of a node: what it may use of what it offers. */
  readonly abilities?: NodeAbilities;
  /** Of a node that offers more than was approved: the request for the difference, when it is new. */
  readonly opened?: PairRequest;
}

export interface Refused {
  readonly ok: false;
  readonly error: WireError;
  readonly closeCode: number;
  /** A pairing request that this attempt created. */
  readonly opened?: PairRequest;
}

export interface HandshakeDeps {
  readonly devices: DeviceRegistry;
  readonly throttle: Throttle;
  readonly clock: Clock;
  secret(): SharedSecret;
  peerRules(): PeerRules;
}

const MAX_SIGNATURE_AGE_MS = 10 * 60_000;

export async function judgeConnect(
  params: ConnectParams,
  nonce: string,
  peer: Peer,
  deps: HandshakeDeps,
): Promise<Admitted | Refused> {
  if (params.minProtocol > PROTOCOL_VERSION || params.maxProtocol < PROTOCOL_VERSION) {
    return refuse(refusalTexts.protocolMismatch, {
      details: { expectedProtocol: PROTOCOL_VERSION },
      closeCode: CLOSE.protocol,
    });
  }
  const role = params.role ?? "operator";
  if (role !== "operator" && role !== "node") return refuse("invalid role");
  const fromPage = checkOrigin(params, peer, deps.peerRules());
  if (fromPage !== undefined) return fromPage;
  const badDevice = checkDevice(params, role, nonce, peer, deps.clock);
  if (badDevice !== undefined) return badDevice;
  const known = params.device === undefined ? undefined : await deps.devices.get(params.device.id);
  const proof = await checkSecret(params, role, known, peer, deps);
  if (!proof.ok) return proof;
  const outcome = await checkPairing(params, role, known, proof, peer, deps);
  return outcome.ok && role === "node" ? withAbilities(outcome, params, peer, deps) : outcome;
}

function checkOrigin(params: ConnectParams, peer: Peer, rules: PeerRules): Refused | undefined {
  // A page can claim any client id, so the header decides, not the claim (attack case GWY-002).
  const isBrowser = isBrowserClient(params.client.id) || peer.origin !== undefined;
  if (!isBrowser) return undefined;
  if (peer.origin !== undefined && isOurHost(peer, rules) && isOurOrigin(peer, rules)) return undefined;
  return refuse(
    "origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)",
  );
}

function checkDevice(params: ConnectParams, role: Role, nonce: string, peer: Peer, clock: Clock): Refused | undefined {
  const { device, client, auth } = params;
  if (device === undefined) return undefined;
  const raw = Buffer.from(device.publicKey, "base64url");
  if (raw.length !== 32 || createHash("sha256").update(raw).digest("hex") !== device.id)
    return refuse("device identity mismatch");
  if (Math.abs(clock.now() - device.signedAt) > MAX_SIGNATURE_AGE_MS) return refuse("device signature expired");
  if (device.nonce === undefined && !peer.local) return refuse("device nonce required");
  if (device.nonce !== undefined && device.nonce !== nonce) return refuse("device nonce mismatch");
  const text = signedText({
    deviceId: device.id,
    clientId: client.id,
    clientMode: client.mode,
    role,
    scopes: params.scopes ?? [],
    signedAt: device.signedAt,
    token: auth?.token ?? "",
    ...(device.nonce === undefined ? {} : { nonce: device.nonce }),
  });
  return isSignedBy(raw, text, device.signature) ? undefined : refuse("device signature invalid");
}

function isSignedBy(rawKey: Buffer, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64url");
  if (bytes.length !== 64) return false;
  return verify(null, Buffer.from(text, "utf8"), publicKeyOf(rawKey.toString("base64url")), bytes);
}

/** Parsing a key costs about as much as checking a signature, and devices reconnect. */
const publicKeys = new Lru<KeyObject>(256);

function publicKeyOf(x: string): KeyObject {
  const key = publicKeys.get(x) ?? createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  publicKeys.set(x, key);
  return key;
}

/** How the client proved its identity, with the scopes of a token or code. */
type Proof =
  | { readonly ok: true; readonly by: "secret" }
  | { readonly ok: true; readonly by: "device-token" | "code"; readonly scopes: readonly string[] };

async function checkSecret(
  params: ConnectParams,
  role: Role,
  known: Device | undefined,
  peer: Peer,
  deps: HandshakeDeps,
): Promise<Proof | Refused> {
  const { auth } = params;
  // A paired device proves itself by key and token; guesses by others must not lock it out.
  if (known !== undefined && auth?.token !== undefined && (await deps.devices.isToken(known, role, auth.token))) {
    const scopes = known.tokens.find((token) => token.role === role)?.scopes ?? [];
    if (coversScopes(scopes, (params.scopes ?? []).filter(isScope))) return { ok: true, by: "device-token", scopes };
    return refuse(mismatch("token", params));
  }
  const secret = deps.secret();
  const given = secret.mode === "token" ? auth?.token : auth?.password;
  // Codes are random and used once, so they need no limit on attempts.
  const cap = params.device === undefined || auth?.token === undefined ? undefined : deps.devices.spendCode(auth.token);
  if (cap !== undefined) return { ok: true, by: "code", scopes: cap };
  if (given === undefined && params.device === undefined)
    return refuse(refusalTexts.identityRequired, { code: "NOT_PAIRED" });
  if (given === undefined) return refuse(missing(secret.mode, params));
  const verdict = await deps.throttle.check({
    caller: known === undefined ? callerOf(peer) : callerOfDevice(known.deviceId),
    guessable: isGuessable(secret),
    isRight: () => knowsSecret(secret, given),
  });
  if (verdict.ok) return { ok: true, by: "secret" };
  if (verdict.waitMs === 0) return refuse(mismatch(secret.mode, params));
  return refuse(refusalTexts.throttled(Math.ceil(verdict.waitMs / 1000)), {
    retryAfterMs: verdict.waitMs,
  });
}

async function checkPairing(
  params: ConnectParams,
  role: Role,
  known: Device | undefined,
  proof: Proof,
  peer: Peer,
  deps: HandshakeDeps,
): Promise<Admitted | Refused> {
  const wanted = (params.scopes ?? []).filter(isScope);
  if (params.device === undefined) {
    // The shared secret alone identifies the owner only on this machine; elsewhere a device must be paired first.
    if (role === "node" || isBrowserClient(params.client.id) || !peer.local)
      return refuse(refusalTexts.identityRequired, { code: "NOT_PAIRED" });
    return { ok: true, role, scopes: wanted, deviceId: undefined, issued: undefined };
  }
  if (known !== undefined && known.roles.includes(role) && coversScopes(known.scopes, wanted)) {
    // No list means what was approved, or what the token still has; an empty list means no scopes (docs/decisions/0028-scopes-come-from-the-record.md).
    const approved = proof.by === "device-token" ? proof.scopes : known.scopes;
    const scopes = params.scopes === undefined && role === "operator" ? approved : wanted;
    return { ok: true, role, scopes, deviceId: known.deviceId, issued: await deps.devices.tokenFor(known, role) };
  }
  const applicant = applicantOf(params, params.device, role, peer);
  // On this machine, with the secret, a device gets its first scopes immediately; more scopes need the owner's approval.
  const first = known === undefined || known.scopes.length === 0 || coversScopes(known.scopes, wanted);
  const welcome =
    proof.by === "code" ? coversScopes(proof.scopes, wanted) : proof.by === "secret" && peer.local && first;
  if (welcome) {
    const device = await deps.devices.pair(applicant);
    return {
      ok: true,
      role,
      scopes: wanted,
      deviceId: device.deviceId,
      issued: await deps.devices.tokenFor(device, role),
    };
  }
  const { request, created } = await deps.devices.request(applicant);
  return {
    ...refuse(refusalTexts.pairingRequired, { code: "NOT_PAIRED", details: { requestId: request.requestId } }),
    ...(created ? { opened: request } : {}),
  };
}

function applicantOf(
  params: ConnectParams,
  device: NonNullable<ConnectParams["device"]>,
  role: Role,
  peer: Peer,
): Applicant {
  return {
    deviceId: device.id,
    publicKey: device.publicKey,
    ...(params.client.displayName === undefined ? {} : { displayName: params.client.displayName }),
    platform: params.client.platform,
    clientId: params.client.id,
    clientMode: params.client.mode,
    role,
    scopes: (params.scopes ?? []).filter(isScope),
    ...(peer.local ? {} : { remoteIp: peer.address }),
    ...(role === "node" ? { abilities: offeredBy(params) } : {}),
  };
}

/** A node may use what its owner approved of what it offers; the rest needs approval. */
async function withAbilities(
  admitted: Admitted,
  params: ConnectParams,
  peer: Peer,
  { devices }: HandshakeDeps,
): Promise<Admitted> {
  if (params.device === undefined) return admitted;
  const applicant = { ...applicantOf(params, params.device, "node", peer), abilities: offeredBy(params) };
  const { abilities, request, created } = await devices.admitNode(applicant);
  return { ...admitted, abilities, ...(created && request !== undefined ? { opened: request } : {}) };
}

function missing(mode: "token" | "password", params: ConnectParams): string {
  return refusalTexts.secret(mode, "missing", advice(mode, params));
}

function mismatch(mode: "token" | "password", params: ConnectParams): string {
  return refusalTexts.secret(mode, "mismatch", advice(mode, params));
}

/** Published clients show this text to people. */
function advice(mode: "token" | "password", { client }: ConnectParams): string {
  if (client.id === "cli" && client.mode === "cli") return `set gateway.remote.${mode} to match gateway.auth.${mode}`;
  if (isBrowserClient(client.id)) return `open the dashboard URL and paste the ${mode} in Control UI settings`;
  return `provide gateway auth ${mode}`;
}

interface RefusalFacts {
  readonly code?: WireError["code"];
  readonly details?: unknown;
  readonly closeCode?: number;
  readonly retryAfterMs?: number;
}

function refuse(
  message: string,
  { code = "INVALID_REQUEST", details, closeCode = CLOSE.policy, retryAfterMs }: RefusalFacts = {},
): Refused {
  return {
    ok: false,
    error: {
      code,
      message,
      ...(details === undefined ? {} : { details }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
    closeCode,
  };
}
