// The text a device signs to prove that it holds its key.

export interface SignedFacts {
  readonly deviceId: string;
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: string;
  readonly scopes: readonly string[];
  readonly signedAt: number;
  readonly token: string;
  /** Absent in the older form, which is accepted from loopback only. */
  readonly nonce?: string;
}

/** The text a device signs; every real client builds exactly this. */
export function signedText(facts: SignedFacts): string {
  const { deviceId, clientId, clientMode, role, scopes, signedAt, token, nonce } = facts;
  const common = [deviceId, clientId, clientMode, role, scopes.join(","), String(signedAt), token];
  return nonce === undefined ? ["v1", ...common].join("|") : ["v2", ...common, nonce].join("|");
}
