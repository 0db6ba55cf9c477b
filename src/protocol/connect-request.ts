// The connect request of a program: who it is, its proof, and its signature over the gateway's challenge.
import { PROTOCOL_VERSION } from "./frame.ts";
import { signedText } from "./signature.ts";

/** The key with which a device proves its identity. */
export interface Signer {
  readonly deviceId: string;
  /** Raw key, base64url. */
  readonly publicKey: string;
  /** base64url. */
  readonly sign: (text: string) => string;
}

export interface ConnectFacts {
  readonly client: { readonly id: string; readonly mode: string } & Readonly<Record<string, unknown>>;
  readonly role: "operator" | "node";
  readonly scopes: readonly string[];
  readonly caps: readonly string[];
  /** Without a device, the shared secret must be enough. */
  readonly identity: Signer | undefined;
  readonly nonce: string;
  readonly signedAt: number;
  /** Sent instead of the password, and signed. */
  readonly token?: string | undefined;
  readonly password?: string | undefined;
}

export function connectRequest(facts: ConnectFacts): Record<string, unknown> {
  const { client, role, scopes, caps, identity, token, password } = facts;
  const auth = token !== undefined ? { token } : password !== undefined ? { password } : undefined;
  return {
    minProtocol: PROTOCOL_VERSION,
    maxProtocol: PROTOCOL_VERSION,
    client,
    caps,
    role,
    scopes,
    ...(auth === undefined ? {} : { auth }),
    ...(identity === undefined ? {} : { device: signedDevice(identity, facts) }),
  };
}

function signedDevice({ deviceId, publicKey, sign }: Signer, facts: ConnectFacts): Record<string, unknown> {
  const { client, role, scopes, signedAt, nonce, token = "" } = facts;
  const who = { deviceId, clientId: client.id, clientMode: client.mode, role, scopes };
  return { id: deviceId, publicKey, signature: sign(signedText({ ...who, signedAt, token, nonce })), signedAt, nonce };
}
