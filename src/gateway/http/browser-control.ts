// The browser control API: HTTP on a loopback port next to the gateway's own, with the gateway's secret.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import type { BrowserControl, ControlRequest } from "../../browser/control.ts";
import { statusOf } from "../../browser/errors.ts";
import { browserOwner } from "../browser-owner.ts";
import type { GatewayContext } from "../context.ts";
import { isFromElsewhere, isOurOrigin, peerOf } from "../peer.ts";
import { sharedSecret } from "../secret.ts";
import { createThrottle, type Throttle } from "../throttle.ts";
import { goneSignal, readBody, sendJson, setSecurityHeaders } from "./answer.ts";
import { admitBearer } from "./bearer.ts";

export interface BrowserControlDeps {
  readonly context: GatewayContext;
  readonly browser: BrowserControl;
}

const MAX_BODY = 2_000_000;
const HOST = "127.0.0.1";

// `import "node:http"` would evaluate a lazy WebSocket client inside Node (30 ms, 15 MB); this does not.
const http = process.getBuiltinModule("node:http");

/** The gateway works without it, so a port in use is only reported. */
export function openBrowserControl(port: number, deps: BrowserControlDeps): { close(): Promise<void> } {
  const { clock, guard, log } = deps.context;
  const throttle = createThrottle(clock);
  const server = http.createServer({ headersTimeout: 15_000, maxHeaderSize: 16_384 }, (request, response) => {
    setSecurityHeaders(response);
    answer(request, response, deps, throttle).catch((error: unknown) => sendFailure(response, error, deps));
  });
  server.on("error", (error) =>
    log.warn(`the browser control API cannot listen on port ${port}: ${error.message}`, {
      hint: "it uses gateway.port + 2; leave 20 ports between two gateways",
    }),
  );
  guard.reservePort(port);
  server.listen({ host: HOST, port, exclusive: true });
  server.unref();
  return {
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { context, browser }: BrowserControlDeps,
  throttle: Throttle,
): Promise<void> {
  const rules = { trustedProxies: [], allowedHosts: [], allowedOrigins: [], boundTo: [HOST] };
  const peer = peerOf(request, rules);
  // A page whose name was rebound to this machine still sends that name, and every page sends its origin.
  if (!peer.local) return sendJson(response, 403, { error: "the Host must be a loopback address" });
  if (!isOurOrigin(peer, rules) || isFromElsewhere(request) || request.headers["sec-fetch-site"] === "cross-site")
    return sendJson(response, 403, { error: "requests of web pages are refused" });
  if (!(await admitBearer(request, response, peer, sharedSecret(context.config(), context.env), throttle))) return;
  const asked = await readRequest(request);
  sendJson(response, 200, await browser.request(asked, browserOwner(context, goneSignal(response))));
}

const methods: readonly string[] = ["GET", "POST", "DELETE"];

async function readRequest(request: IncomingMessage): Promise<ControlRequest> {
  const method = request.method ?? "";
  if (!methods.includes(method)) throw badRequest("method must be GET, POST, or DELETE", 405);
  const { pathname, searchParams } = new URL(request.url ?? "/", `http://${HOST}`);
  const { timeoutMs, ...query } = Object.fromEntries(searchParams);
  return {
    method: method as ControlRequest["method"],
    path: pathname,
    query,
    body: await readJson(request),
    timeoutMs: Number(timeoutMs) > 0 ? Number(timeoutMs) : undefined,
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(request, MAX_BODY);
  if (bytes.length === 0) return undefined;
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
    throw badRequest("send application/json", 415);
  try {
    return parseStrict(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw badRequest(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`, 400);
  }
}

function badRequest(message: string, status: number): OpenClawError {
  return new OpenClawError("http.bad-request", message, { details: { status } });
}

function sendFailure(response: ServerResponse, error: unknown, { context: { log, mask } }: BrowserControlDeps): void {
  if (response.destroyed || response.headersSent) return;
  if (!(error instanceof OpenClawError)) {
    log.error("unexpected failure in the browser control API", { error });
    return sendJson(response, 500, { error: "internal error" });
  }
  const { code, message, hint } = error;
  // The rest of a body that was not read cannot be followed by another request.
  if (code.startsWith("http.")) response.setHeader("connection", "close");
  sendJson(response, statusFor(error), {
    error: mask(message),
    code,
    ...(hint === undefined ? {} : { hint: mask(hint) }),
  });
}

function statusFor({ code, details }: OpenClawError): number {
  const { status } = (typeof details === "object" && details !== null ? details : {}) as { readonly status?: unknown };
  if (code === "http.bad-request" && typeof status === "number") return status;
  if (code === "http.too-large") return 413;
  return code === "http.slow" ? 408 : statusOf(code);
}
