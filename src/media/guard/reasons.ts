// The table of reasons why the guard refuses or fails a request: one code, one sentence and one hint each.
import { OpenClawError } from "../../core/error.ts";

interface Reason {
  /** True when the request was not allowed; false when it was allowed and failed. */
  readonly refused: boolean;
  readonly text: string;
  readonly hint?: string;
}

const allow = "openclaw config set tools.web.allowPrivateHosts";

export const guardReasons = {
  "guard.invalid-url": { refused: true, text: "this is not a valid URL" },
  "guard.scheme": { refused: true, text: "only http and https URLs are fetched" },
  "guard.credentials": { refused: true, text: "URLs with a user name or password are not fetched" },
  "guard.port": { refused: true, text: "this port belongs to a service that is not a web server" },
  "guard.private-name": {
    refused: true,
    text: "blocked: private or internal host name",
    hint: `the owner can allow one host with: ${allow} '["<host>"]'`,
  },
  "guard.private-address": {
    refused: true,
    text: "blocked: private or internal address",
    hint: `the owner can allow one host with: ${allow} '["<host>"]'`,
  },
  "guard.metadata": { refused: true, text: "blocked: address of a cloud metadata service; no setting allows it" },
  "guard.own-gateway": { refused: true, text: "blocked: this is the port of the gateway itself; no setting allows it" },
  "guard.redirects": { refused: true, text: "the server redirects too often" },
  "guard.too-large": { refused: true, text: "the response is too large" },
  "guard.headers-too-large": { refused: true, text: "the response headers are too large" },
  "guard.protocol": { refused: false, text: "the server does not answer as a web server does" },
  "guard.encoding": { refused: false, text: "the response is compressed in a way that is not supported or broken" },
  "guard.status": { refused: false, text: "the server answered with an error" },
  "guard.dns": { refused: false, text: "the host name could not be resolved" },
  "guard.timeout": { refused: false, text: "the server did not finish in time" },
  "guard.connect": { refused: false, text: "the server could not be reached" },
} as const satisfies Readonly<Record<string, Reason>>;

export type GuardCode = keyof typeof guardReasons;

/** `fact` names the host, address or limit; it is added to the sentence. */
export function guardError(code: GuardCode, fact = "", cause?: unknown): OpenClawError {
  const reason: Reason = guardReasons[code];
  return new OpenClawError(code, fact === "" ? reason.text : `${reason.text} (${fact})`, {
    ...(reason.hint === undefined ? {} : { hint: reason.hint }),
    ...(reason.refused ? { details: { refused: true, reason: code } } : { details: { reason: code } }),
    cause,
  });
}

export function isGuardError(error: unknown): error is OpenClawError {
  return error instanceof OpenClawError && error.code in guardReasons;
}

/** True when the request was not allowed; false when it was allowed and failed. */
export function isRefusal(code: string): boolean {
  return code in guardReasons && guardReasons[code as GuardCode].refused;
}
