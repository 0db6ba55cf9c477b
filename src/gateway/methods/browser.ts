// browser.request: the routes of the browser control service for paired operators.
import { OpenClawError } from "../../core/error.ts";
import type { BrowserControl, ControlRequest } from "../../browser/control.ts";
import { browserRequest } from "../../protocol/methods/browser.ts";
import { browserOwner } from "../browser-owner.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export function browserMethods(context: GatewayContext, browser: BrowserControl): Served[] {
  return [
    serve(browserRequest)(async (params, _client, signal) => {
      try {
        return await browser.request(readRequest(params), browserOwner(context, signal));
      } catch (error) {
        throw withReason(error);
      }
    }),
  ];
}

const methods: readonly string[] = ["GET", "POST", "DELETE"];

function readRequest(params: Readonly<Record<string, unknown>>): ControlRequest {
  const { method, path, query, body, timeoutMs, target, node } = params;
  if (typeof method !== "string" || typeof path !== "string" || method === "" || path === "")
    throw new OpenClawError("wire.invalid-request", "method and path are required");
  if (!methods.includes(method.toUpperCase()))
    throw new OpenClawError("wire.invalid-request", "method must be GET, POST, or DELETE");
  return {
    method: method.toUpperCase() as ControlRequest["method"],
    path: path.startsWith("/") ? path : `/${path}`,
    query: typeof query === "object" && query !== null ? (query as Record<string, unknown>) : undefined,
    body,
    timeoutMs: typeof timeoutMs === "number" && timeoutMs > 0 ? timeoutMs : undefined,
    target: typeof target === "string" ? target : undefined,
    node: typeof node === "string" ? node : undefined,
  };
}

/** Clients of the recorded gateway read the message of the route in `details.error`. */
function withReason(error: unknown): unknown {
  if (!(error instanceof OpenClawError) || !error.code.startsWith("browser.")) return error;
  const { code, message, hint, details } = error;
  const more = typeof details === "object" ? details : {};
  return new OpenClawError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    details: { ...more, error: message },
    cause: error,
  });
}
