// Who may use the HTTP surface: the shared secret as a bearer, throttled like the socket.
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Peer } from "../peer.ts";
import { knowsSecret, type SharedSecret } from "../secret.ts";
import type { Throttle } from "../throttle.ts";
import { sendError, sendJson } from "./answer.ts";

/** True when the caller may go on; otherwise the answer has been sent. */
export function admitBearer(
  request: IncomingMessage,
  response: ServerResponse,
  peer: Peer,
  secret: SharedSecret,
  throttle: Throttle,
): boolean {
  const wait = throttle.waitMs(peer.address);
  if (wait > 0) {
    response.setHeader("retry-after", String(Math.ceil(wait / 1000)));
    sendError(response, 429, "rate_limited", "Too many failed attempts; wait and retry");
    return false;
  }
  const given = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (knowsSecret(secret, given)) {
    throttle.succeeded(peer.address);
    return true;
  }
  if (given !== undefined) throttle.failed(peer.address);
  response.setHeader(
    "www-authenticate",
    `Bearer realm="openclaw"${given === undefined ? "" : ', error="invalid_token"'}`,
  );
  sendJson(response, 401, { error: { message: "Unauthorized", type: "unauthorized" } });
  return false;
}
