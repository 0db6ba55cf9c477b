// The codes of browser errors and their HTTP status. Messages are written where the error is thrown.
import { ToolError, type ErrorFacts } from "../core/error.ts";

const statuses = {
  "browser.disabled": 403,
  "browser.not-found": 404,
  "browser.bad-request": 400,
  "browser.bad-target": 400,
  "browser.unknown-profile": 404,
  "browser.bad-profile-name": 400,
  "browser.profile-exists": 409,
  "browser.no-port": 507,
  "browser.profile-denied": 403,
  "browser.remote-profile": 409,
  "browser.no-program": 501,
  "browser.start-failed": 500,
  "browser.not-reachable": 502,
  "browser.attach-only": 409,
  "browser.gone": 502,
  "browser.tab-not-found": 404,
  "browser.no-tab": 404,
  "browser.ambiguous-tab": 409,
  "browser.blocked": 403,
  "browser.stale-ref": 409,
  "browser.unknown-ref": 404,
  "browser.evaluate-disabled": 403,
  "browser.failed": 500,
  "browser.timeout": 504,
  "browser.upload-denied": 403,
  "browser.relay-no-tab": 409,
  "browser.port-in-use": 409,
  "browser.in-use": 409,
  "browser.built-in-profile": 409,
  "browser.crashed": 502,
} as const;

export type BrowserCode = keyof typeof statuses;

export function browserError(code: BrowserCode, message: string, facts: ErrorFacts = {}): ToolError {
  return new ToolError(code, message, facts);
}

export function isBrowserCode(code: string): code is BrowserCode {
  return Object.hasOwn(statuses, code);
}

/** 500 for any other error. */
export function statusOf(code: string): number {
  return isBrowserCode(code) ? statuses[code] : 500;
}

export function browserDisabled(): ToolError {
  return browserError("browser.disabled", "the browser is disabled (browser.enabled is false)", {
    hint: "openclaw config set browser.enabled true",
  });
}
