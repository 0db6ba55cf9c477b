// Decides who may talk to the relay: our own CDP connection by header, the extension by origin and token.
import type { IncomingMessage } from "node:http";

import { sameSecret } from "../../base/ids.ts";

export const CDP_PATH = "/cdp";
export const EXTENSION_PATH = "/extension";
export const TOKEN_HEADER = "x-openclaw-relay-token";
export const EXTENSION_PROTOCOL = "openclaw-relay";
/** A WebSocket of a page or an extension cannot set headers, so the token is a second subprotocol with this prefix. */
const TOKEN_PROTOCOL = "token.";

export interface RelaySecrets {
  readonly cdp: string;
  readonly extension: string;
}

export interface Refusal {
  readonly status: number;
  readonly reason: string;
}

/** Undefined when the request may go on. */
export function refusalOf(request: IncomingMessage, secrets: RelaySecrets): Refusal | undefined {
  const { host, origin } = request.headers;
  // A page that rebinds its own name to 127.0.0.1 still sends that name.
  if (!/^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host ?? ""))
    return { status: 403, reason: "the Host is not loopback" };
  const isExtension = /^chrome-extension:\/\/[a-p]{32}$/.test(origin ?? "");
  if (origin !== undefined && !isExtension) return { status: 403, reason: "foreign origins are refused" };
  const path = request.url?.split("?")[0] ?? "/";
  if (path === EXTENSION_PATH) return isExtension ? extensionRefusal(request, secrets.extension) : onlyExtension;
  // Says only that a relay listens here: the options page shows it.
  if (path === "/") return undefined;
  const given = request.headers[TOKEN_HEADER];
  if (origin === undefined && typeof given === "string" && sameSecret(given, secrets.cdp)) return undefined;
  return { status: 401, reason: `the header ${TOKEN_HEADER} is missing or wrong` };
}

const onlyExtension: Refusal = { status: 403, reason: "only the extension may connect here" };

function extensionRefusal(request: IncomingMessage, token: string): Refusal | undefined {
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((word) => word.trim());
  const given = offered.find((word) => word.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length) ?? "";
  if (offered.includes(EXTENSION_PROTOCOL) && sameSecret(given, token)) return undefined;
  return { status: 401, reason: "the token of the extension is missing or wrong" };
}
