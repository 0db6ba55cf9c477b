// Routes every HTTP request: headers, host check, then one of a few routes; the rest is the page.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { Agents } from "../../agent/agent.ts";
import type { ModelBook } from "../../model/model.ts";
import { controlUiBase } from "../../config/avatar.ts";
import type { Config } from "../../config/schema/index.ts";
import type { GatewayContext } from "../context.ts";
import type { FairQueue, Lane } from "../fair-queue.ts";
import { isFromElsewhere, isOurHost, isOurOrigin, peerOf, type PeerRules } from "../peer.ts";
import type { SharedSecret } from "../secret.ts";
import type { Throttle } from "../throttle.ts";
import { sendError, sendJson, sendText, setSecurityHeaders } from "./answer.ts";
import { admitBearer } from "./bearer.ts";
import type { OpenAIDeps } from "./openai-turn.ts";
import type { ServeHook } from "../webhook/serve.ts";
import type { ServePage } from "./page.ts";
import { invokeTool } from "./tools-invoke.ts";

export interface RouteDeps {
  readonly context: GatewayContext;
  readonly throttle: Throttle;
  readonly agents: Agents;
  readonly models: ModelBook;
  readonly servePage: ServePage;
  /** Absent when webhooks are not served at all. */
  readonly serveHook?: ServeHook | undefined;
  readonly queue: FairQueue;
  secret(): SharedSecret;
  peerRules(): PeerRules;
}

export function createRoute(deps: RouteDeps): (request: IncomingMessage, response: ServerResponse) => void {
  /** Pipelined requests take turns with those of other connections. */
  const lanes = new WeakMap<Socket, Lane>();
  const laneOf = (socket: Socket): Lane => {
    const lane = lanes.get(socket) ?? deps.queue.lane();
    lanes.set(socket, lane);
    return lane;
  };
  return function route(request, response) {
    setSecurityHeaders(response);
    laneOf(request.socket).offer(() => {
      if (response.destroyed) return;
      answer(request, response, deps).catch((error: unknown) => {
        deps.context.log.error("unexpected failure in an HTTP request", { error });
        if (!response.headersSent) sendError(response, 500, "internal", "internal error");
      });
    });
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, deps: RouteDeps): Promise<void> {
  const rules = deps.peerRules();
  const peer = peerOf(request, rules);
  if (peer.host === undefined)
    return sendError(response, 400, "invalid_request_error", "the request must have exactly one Host header");
  if (!isOurHost(peer, rules))
    return sendText(response, 403, "This Host is not allowed. Add it to gateway.allowedHosts.\n");
  if (!isOurOrigin(peer, rules) || isFromElsewhere(request))
    return sendText(response, 403, "This Origin is not allowed. Add it to gateway.controlUi.allowedOrigins.\n");
  const path = pathOf(request);
  if (path === "/health") return answerHealth(request, response);
  if (path === "/tools/invoke") {
    if (request.method !== "POST") return sendText(response, 405, "Method Not Allowed", { allow: "POST" });
    if (!(await admitBearer(request, response, peer, deps.secret(), deps.throttle))) return;
    return invokeTool(request, response, deps.context, peer);
  }
  if (path === "/mcp" && deps.context.config().gateway?.http?.endpoints?.mcp?.enabled === true) {
    if (!(await admitBearer(request, response, peer, deps.secret(), deps.throttle))) return;
    return (await import("./mcp.ts")).serveMcp(request, response, deps.context, peer);
  }
  const endpoint = openAIEndpoint(path, deps.context.config());
  if (endpoint !== undefined) {
    if (!endpoint.methods.includes(request.method ?? ""))
      return sendText(response, 405, "Method Not Allowed", { allow: endpoint.methods.join(", ") });
    if (!(await admitBearer(request, response, peer, deps.secret(), deps.throttle))) return;
    return endpoint.serve(request, response, deps);
  }
  const hook = hookAt(path, deps.context.config());
  if (hook !== undefined && deps.serveHook !== undefined)
    return deps.serveHook(request, response, { rest: hook, peer, throttle: deps.throttle });
  return answerPage(request, response, deps, path);
}

/** The Control UI and its files, below `gateway.controlUi.basePath`. */
async function answerPage(
  request: IncomingMessage,
  response: ServerResponse,
  { context, servePage }: RouteDeps,
  path: string,
): Promise<void> {
  const ui = context.config().gateway?.controlUi;
  if (ui?.enabled === false) return sendText(response, 404, "Not Found");
  const base = controlUiBase(context.config());
  // Pages name their files relative to their folder.
  if (base !== "" && path === base)
    return sendText(response, 302, "", { location: `${base}/${(request.url ?? "").slice(path.length)}` });
  const rest = base !== "" && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  if (rest.startsWith("/avatar/"))
    return (await import("./avatar.ts")).serveAvatar(request, response, context, rest.slice("/avatar/".length));
  if (ui?.root !== undefined && ui.root.trim() !== "")
    return (await import("./page-root.ts")).servePageRoot(request, response, context, rest);
  servePage(request, response, rest);
}

interface OpenAIEndpoint {
  readonly methods: readonly string[];
  serve(request: IncomingMessage, response: ServerResponse, deps: OpenAIDeps): Promise<void>;
}

/** The OpenAI-compatible endpoints, each disabled by default; the list of models comes with either. */
function openAIEndpoint(path: string, config: Config): OpenAIEndpoint | undefined {
  const endpoints = config.gateway?.http?.endpoints;
  const hasChat = endpoints?.chatCompletions?.enabled === true;
  const hasResponses = endpoints?.responses?.enabled === true;
  if (path === "/v1/chat/completions" && hasChat)
    return { methods: ["POST"], serve: async (...all) => (await import("./chat-completions.ts")).completeChat(...all) };
  if (path === "/v1/responses" && hasResponses)
    return { methods: ["POST"], serve: async (...all) => (await import("./responses.ts")).respond(...all) };
  const stored = /^\/v1\/responses\/([^/]+)$/.exec(path)?.[1];
  if (stored !== undefined && hasResponses)
    return {
      methods: ["GET", "DELETE"],
      serve: async (...all) => (await import("./responses.ts")).serveResponse(...all, stored),
    };
  const model = /^\/v1\/models(?:\/(.+))?$/.exec(path);
  if (model !== null && (hasChat || hasResponses))
    return {
      methods: ["GET"],
      serve: async (...all) => (await import("./openai-models.ts")).serveModels(...all, model[1] ?? ""),
    };
  return undefined;
}

/** The part of the path after the hooks path, while webhooks are accepted. */
function hookAt(path: string, { hooks }: Config): string | undefined {
  if (hooks?.enabled !== true) return undefined;
  const base = `/${(hooks.path ?? "/hooks").replaceAll(/^\/+|\/+$/g, "")}`;
  if (path !== base && !path.startsWith(`${base}/`)) return undefined;
  return path.slice(base.length).replaceAll(/^\/+|\/+$/g, "");
}

function answerHealth(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== "GET" && request.method !== "HEAD")
    return sendText(response, 405, "Method Not Allowed", { allow: "GET, HEAD" });
  sendJson(response, 200, { ok: true });
}

function pathOf(request: IncomingMessage): string {
  const target = request.url ?? "/";
  const end = target.indexOf("?");
  return end < 0 ? target : target.slice(0, end);
}
