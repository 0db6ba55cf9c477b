// Checks signed webhooks: an HMAC over timestamp and body, no older than the config allows. Off unless a secret is set.
import type { IncomingHttpHeaders } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { sameSecret } from "../../base/ids.ts";
import type { Config } from "../../config/schema/index.ts";

const DEFAULT_TOLERANCE_SECONDS = 300;

/** The valid signature, or undefined when none is required; throws `hook.bad-signature`. */
export function requireSignature(
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  config: Config,
  now: number,
): string | undefined {
  const { secret = "", toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = config.hooks?.signing ?? {};
  if (secret === "") return undefined;
  const timestamp = headers["x-openclaw-timestamp"];
  const given = headers["x-openclaw-signature"];
  if (typeof timestamp !== "string" || typeof given !== "string" || !/^\d{1,12}$/.test(timestamp))
    throw refused("this webhook must be signed: x-openclaw-timestamp and x-openclaw-signature are missing");
  const isRecent = Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds;
  const hmac = process.getBuiltinModule("node:crypto").createHmac("sha256", secret);
  const expected = hmac.update(`${timestamp}.`).update(body).digest("hex");
  if (!sameSecret(given.replace(/^sha256=/, "").toLowerCase(), expected)) throw refused("the signature does not match");
  if (!isRecent)
    throw refused(`the signature is older than ${toleranceSeconds} seconds, or the sender's clock is wrong`);
  return expected;
}

function refused(message: string): OpenClawError {
  return new OpenClawError("hook.bad-signature", message, {
    hint: 'x-openclaw-signature: sha256=<hex HMAC of "<timestamp>.<body>" with hooks.signing.secret>',
  });
}
