// Admits callers of the HTTP endpoints: the shared secret as a bearer token, throttled like the socket.
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Peer } from "../peer.ts";
import { isGuessable, knowsSecret, type SharedSecret } from "../secret.ts";
import { callerOf, type Throttle } from "../throttle.ts";
import { sendError, sendJson } from "./answer.ts";

/** True when the caller may continue; otherwise the response has been sent. */
export async function admitBearer(
  request: IncomingMessage,
  response: ServerResponse,
  peer: Peer,
  secret: SharedSecret,
  throttle: Throttle,
): Promise<boolean> {
  const given = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (given === undefined) return unauthorized(response);
  const verdict = await throttle.check({
    caller: callerOf(peer),
    guessable: isGuessable(secret),
    isRight: () => knowsSecret(secret, given),
  });
  if (verdict.ok) return true;
  if (verdict.waitMs === 0) return unauthorized(response, given);
  response.setHeader("retry-after", String(Math.ceil(verdict.waitMs / 1000)));
  sendError(response, 429, "rate_limited", "Too many failed attempts; check the secret, wait and retry");
  return false;
}

function unauthorized(response: ServerResponse, given?: string): false {
  response.setHeader(
    "www-authenticate",
    `Bearer realm="openclaw"${given === undefined ? "" : ', error="invalid_token"'}`,
  );
  sendJson(response, 401, { error: { message: "Unauthorized", type: "unauthorized" } });
  return false;
}
