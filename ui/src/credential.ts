// Decides which secret to present next and what a rejection means for it; credential-store.ts stores them.
import type { WireError } from "../../src/protocol/frame.ts";
import { readRefusal } from "../../src/protocol/refusal.ts";

/** The secrets this browser has; each can be missing. */
export interface Secrets {
  /** Issued by the gateway to this device; the only secret that lasts. */
  readonly device?: string;
  /** One-time code from a pairing link. */
  readonly link?: string;
  /** Pasted by the person. */
  readonly token?: string;
  readonly password?: string;
}

export type Kind = keyof Secrets | "none";

export interface Credential {
  readonly kind: Kind;
  readonly secret: string;
}

/** The device token comes first, so that opening an old link again does no harm. */
const order = ["device", "link", "token", "password"] as const;

export function nextCredential(secrets: Secrets): Credential {
  const kind = order.find((entry) => secrets[entry] !== undefined);
  return kind === undefined ? { kind: "none", secret: "" } : { kind, secret: secrets[kind] ?? "" };
}

/** `auth` of the connect request; undefined without a secret. */
export function toAuth({ kind, secret }: Credential): { token: string } | { password: string } | undefined {
  if (kind === "none") return undefined;
  return kind === "password" ? { password: secret } : { token: secret };
}

/** After a successful connect a device token replaces one-time and shared secrets. */
export function afterConnect(secrets: Secrets, deviceToken: string | undefined): Secrets {
  if (deviceToken !== undefined) return { device: deviceToken };
  return without(secrets, "link");
}

export type Step =
  | { readonly next: "again" }
  | { readonly next: "wait"; readonly requestId: string }
  | { readonly next: "ask" }
  | { readonly next: "later"; readonly afterMs?: number };

export function afterRefusal(
  secrets: Secrets,
  used: Kind,
  failure: WireError<string>,
): { readonly secrets: Secrets; readonly step: Step } {
  const requestId = textOf(failure.details, "requestId");
  if (failure.code === "NOT_PAIRED" && requestId !== undefined) return { secrets, step: { next: "wait", requestId } };
  if (failure.code === "UNAVAILABLE" || "retryAfterMs" in failure) {
    const afterMs = "retryAfterMs" in failure ? Number(failure.retryAfterMs) : NaN;
    return { secrets, step: { next: "later", ...(Number.isFinite(afterMs) ? { afterMs } : {}) } };
  }
  if (!isSecretFault(failure) || used === "none") return { secrets, step: { next: "ask" } };
  const left = without(secrets, used);
  return { secrets: left, step: { next: nextCredential(left).kind === "none" ? "ask" : "again" } };
}

function isSecretFault(failure: WireError<string>): boolean {
  const { kind } = readRefusal(failure);
  return kind === "secret-missing" || kind === "secret-mismatch";
}

function without(secrets: Secrets, kind: Kind): Secrets {
  return Object.fromEntries(Object.entries(secrets).filter(([key]) => key !== kind));
}

export function textOf(value: unknown, key: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found: unknown = Reflect.get(value, key);
  return typeof found === "string" && found !== "" ? found : undefined;
}
