// Builds the connect request of the page, with the signature over the challenge of the gateway.
import { PROTOCOL_VERSION } from "../../src/protocol/frame.ts";
import { toAuth, type Credential } from "./credential.ts";
import type { Identity } from "./identity.ts";

const client = { id: "openclaw-control-ui", mode: "webchat" } as const;
const role = "operator";
const scopes = ["operator.admin", "operator.approvals", "operator.pairing"] as const;

interface ConnectFacts {
  readonly version: string;
  readonly identity: Identity | undefined;
  readonly challenge: unknown;
  readonly credential: Credential;
}

export async function connectParams({ version, identity, challenge, credential }: ConnectFacts): Promise<object> {
  const auth = toAuth(credential);
  return {
    minProtocol: PROTOCOL_VERSION,
    maxProtocol: PROTOCOL_VERSION,
    client: { ...client, version, platform: navigator.platform || "web" },
    role,
    scopes,
    caps: ["tool-events"],
    ...(identity === undefined ? {} : { device: await signDevice(identity, challenge, credential) }),
    ...(auth === undefined ? {} : { auth }),
    userAgent: navigator.userAgent,
    locale: navigator.language,
  };
}

async function signDevice(identity: Identity, challenge: unknown, { kind, secret }: Credential): Promise<object> {
  const { nonce, ts } = challenge as { nonce: string; ts?: number };
  // Uses the time of the gateway, so that a browser with a wrong clock can connect; the nonce proves freshness.
  const signedAt = ts ?? Date.now();
  const token = kind === "password" ? "" : secret;
  const signature = await identity.sign({
    clientId: client.id,
    clientMode: client.mode,
    role,
    scopes,
    signedAt,
    token,
    nonce,
  });
  return { id: identity.deviceId, publicKey: identity.publicKey, signature, signedAt, nonce };
}
