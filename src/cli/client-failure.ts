// Failures between a command and a gateway, each with a message and a hint.
import { errnoOf, OpenClawError } from "../core/error.ts";
import type { WireError } from "../protocol/frame.ts";
import { readRefusal, type SecretKind } from "../protocol/refusal.ts";
import type { Target } from "./target.ts";

const absent: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"]);

export function unreachable(cause: Error, target: Target): OpenClawError {
  const errno = errnoOf(cause) ?? "";
  if (/CERT|SIGNATURE|^ERR_TLS/.test(errno)) return distrusted(cause, target);
  const isAbsent = absent.has(errno) || cause instanceof AggregateError;
  if (!isAbsent) {
    return new OpenClawError(
      "gateway.unreachable",
      `cannot connect to the gateway at ${target.url}: ${cause.message}`,
      {
        cause,
        hint: whereToLook(target),
      },
    );
  }
  const message = target.isLocal
    ? `no gateway is running on this machine (${target.url})`
    : `no gateway answers at ${target.url}${errno === "" ? "" : ` (${errno})`}`;
  return new OpenClawError("gateway.down", message, {
    cause,
    hint: target.isLocal ? "openclaw gateway run" : whereToLook(target),
  });
}

function distrusted(cause: Error, target: Target): OpenClawError {
  return new OpenClawError("gateway.tls", `the certificate at ${target.url} is not trusted: ${cause.message}`, {
    cause,
    hint: "use a certificate from an authority that this machine trusts; openclaw node run also accepts --tls-fingerprint",
  });
}

export function otherCertificate(target: Target, seen: string | undefined): OpenClawError {
  return new OpenClawError(
    "gateway.tls-mismatch",
    `the certificate at ${target.url} does not match --tls-fingerprint (received: ${seen ?? "none"})`,
    { hint: "another machine may intercept the connection; if the certificate was renewed, pass its new fingerprint" },
  );
}

export function silent(what: string, target: Target, timeoutMs = target.timeoutMs): OpenClawError {
  return new OpenClawError("gateway.silent", `the gateway at ${target.url} did not ${what} within ${timeoutMs} ms`, {
    hint: `wait longer with --timeout ${timeoutMs * 3}, or check openclaw logs`,
  });
}

export function closedEarly(code: number, reason: string, target: Target): OpenClawError {
  if (code === 1012) {
    return new OpenClawError("gateway.restarting", "the gateway is restarting", {
      hint: "repeat the command in a moment",
    });
  }
  const why = reason === "" ? `code ${code}` : `${reason}, code ${code}`;
  return new OpenClawError("gateway.closed", `the gateway at ${target.url} closed the connection (${why})`, {
    hint: "openclaw logs",
  });
}

/** The message comes from the gateway; the hint depends on where our secret came from. */
export function refusedConnect(
  error: WireError,
  target: Target,
  { usedDeviceToken }: { readonly usedDeviceToken: boolean },
): OpenClawError {
  const { message, details } = error;
  const refusal = readRefusal(error);
  switch (refusal.kind) {
    case "pairing-required":
      return notPaired(refusal.requestId, details, target);
    case "secret-mismatch":
      return wrongSecret(refusal.secret, target, usedDeviceToken);
    case "secret-missing":
      return missingSecret(refusal.secret, target);
    case "identity-required":
      return missingSecret("token", target);
    case "protocol-mismatch":
      return new OpenClawError(
        "gateway.protocol",
        "the gateway uses another version of the protocol than this command",
        { hint: "install the same version on both sides", details },
      );
    default:
      return new OpenClawError("gateway.refused", `the gateway refused the connection: ${message}`, {
        hint: "openclaw logs on the machine of the gateway",
        details,
      });
  }
}

function notPaired(id: string | undefined, details: unknown, target: Target): OpenClawError {
  return new OpenClawError(
    "gateway.not-paired",
    `this device is not paired with the gateway at ${target.url}${id === undefined ? "" : ` (request ${id})`}`,
    {
      hint: `on the machine of the gateway run: openclaw devices approve ${id ?? "<request id>, shown by openclaw devices list"}`,
      details,
    },
  );
}

function wrongSecret(kind: SecretKind, target: Target, usedDeviceToken: boolean): OpenClawError {
  const hints: Readonly<Record<string, string>> = {
    "--url": `pass the ${kind} that gateway has in gateway.auth.${kind}`,
    "gateway.remote.url": `openclaw config set gateway.remote.${kind} <the gateway.auth.${kind} of that gateway>`,
    "this machine": `the running gateway has another ${kind} than the config: openclaw gateway restart, or pass it with --${kind}`,
  };
  const hint = usedDeviceToken
    ? `the ${kind} of this device is no longer valid; pass the shared one with --token, or pair again`
    : hints[target.from];
  return new OpenClawError(
    "gateway.unauthorized",
    `the gateway at ${target.url} does not accept our ${kind} (unauthorized: gateway ${kind} mismatch)`,
    { hint },
  );
}

function missingSecret(kind: SecretKind, target: Target): OpenClawError {
  const key = target.from === "gateway.remote.url" ? `gateway.remote.${kind}` : `gateway.auth.${kind}`;
  return new OpenClawError(
    "gateway.unauthorized",
    `the gateway at ${target.url} requires a ${kind}, and this config has none`,
    {
      hint: `openclaw config set ${key} <${kind}>, or pass it with --${kind}`,
    },
  );
}

/** Turns an error response into an error with the gateway's own code and hint, where it has them. */
export function toCallError(error: WireError, method: string): OpenClawError {
  const { code, message, details } = error;
  const facts = typeof details === "object" && details !== null ? (details as { code?: unknown; hint?: unknown }) : {};
  const own = typeof facts.code === "string" ? facts.code : `gateway.${code.toLowerCase().replaceAll("_", "-")}`;
  const hint = typeof facts.hint === "string" ? facts.hint : hintFor(error, method);
  return new OpenClawError(own, message, { ...(hint === undefined ? {} : { hint }), details });
}

function hintFor(error: WireError, method: string): string | undefined {
  const { kind } = readRefusal(error);
  if (kind === "unknown-method") return "list the methods with: openclaw status --all --json";
  if (kind === "missing-scope") return `pair this device again with more scopes, which ${method} needs`;
  return undefined;
}

function whereToLook({ from, isLocal }: Target): string {
  if (isLocal) return "another program may use that port: openclaw gateway status";
  return from.startsWith("--")
    ? `check the address in ${from}`
    : "check gateway.remote.url: openclaw config get gateway.remote.url";
}
