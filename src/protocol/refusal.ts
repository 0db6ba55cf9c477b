// Refusals whose wire form is only a published text: written and read here, so that no other module looks into messages.
import type { WireError } from "./frame.ts";

export type SecretKind = "token" | "password";

/** What a client can do about an error of the gateway. */
export type Refusal =
  | { readonly kind: "pairing-required"; readonly requestId: string | undefined }
  | { readonly kind: "identity-required" | "protocol-mismatch" | "throttled" | "unknown-method" | "missing-scope" }
  | { readonly kind: "secret-missing" | "secret-mismatch"; readonly secret: SecretKind }
  /** The file was changed by another writer since the client read it. */
  | { readonly kind: "stale" }
  | { readonly kind: "other" };

/** Published clients show these texts to people and compare their beginnings. */
export const refusalTexts = {
  pairingRequired: "pairing required",
  identityRequired: "device identity required",
  protocolMismatch: "protocol mismatch",
  secret: (kind: SecretKind, fault: "missing" | "mismatch", advice: string): string =>
    `unauthorized: gateway ${kind} ${fault} (${advice})`,
  throttled: (seconds: number): string => `unauthorized: too many failed attempts, wait ${seconds} s`,
  unknownMethod: (method: string): string => `unknown method: ${method}`,
  missingScope: (scope: string): string => `missing scope: ${scope}`,
  stale: (what: string, read: string): string => `${what} changed since last load; re-run ${read} and retry`,
} as const;

export function readRefusal({ code, message, details }: WireError<string>): Refusal {
  if (code === "NOT_PAIRED" && message === refusalTexts.pairingRequired)
    return { kind: "pairing-required", requestId: requestIdIn(details) };
  if (message === refusalTexts.identityRequired) return { kind: "identity-required" };
  if (message === refusalTexts.protocolMismatch) return { kind: "protocol-mismatch" };
  const [, secret, fault] = /^unauthorized: gateway (token|password) (missing|mismatch)\b/.exec(message) ?? [];
  if (secret !== undefined && fault !== undefined)
    return { kind: fault === "missing" ? "secret-missing" : "secret-mismatch", secret: secret as SecretKind };
  if (message.startsWith("unauthorized: too many failed attempts")) return { kind: "throttled" };
  if (message.startsWith("unknown method: ")) return { kind: "unknown-method" };
  if (message.startsWith("missing scope: ")) return { kind: "missing-scope" };
  return { kind: /^[a-z ]+ changed since last load; /.test(message) ? "stale" : "other" };
}

function requestIdIn(details: unknown): string | undefined {
  if (typeof details !== "object" || details === null || !("requestId" in details)) return undefined;
  return typeof details.requestId === "string" && details.requestId !== "" ? details.requestId : undefined;
}
