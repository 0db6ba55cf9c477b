// POST <hooks.path>/…: checks the sender, the body and whether the delivery is new, runs the action, and responds.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import { visible } from "../../core/visible.ts";
import type { Clock } from "../../base/clock.ts";
import { sameSecret } from "../../base/ids.ts";
import type { Mask } from "../../base/mask.ts";
import type { Outbound } from "../../channel/outbound.ts";
import type { Config } from "../../config/schema/index.ts";
import type { DedupeTable } from "../../store/store.ts";
import { readBody, sendJson, sendText } from "../http/answer.ts";
import type { Peer } from "../peer.ts";
import { isShortToken } from "../secret.ts";
import { callerOf, type Throttle } from "../throttle.ts";
import { act, type ActDeps } from "./act.ts";
import { settleAction, type Draft } from "./action.ts";
import { createDoOnce, deliveryOf, signedOnce, type Answer } from "./delivery.ts";
import { draftOf, findMapping } from "./mapping.ts";
import { requireSignature } from "./signature.ts";
import { createRunTransform, type TransformDeps } from "./transform.ts";

export interface ServeHookDeps extends ActDeps, TransformDeps {
  readonly clock: Clock;
  readonly mask: Mask;
  readonly dedupe: DedupeTable;
  readonly outbound: Outbound;
}

export interface HookRequest {
  /** The part after the hooks path, without slashes at its ends. */
  readonly rest: string;
  readonly peer: Peer;
  readonly throttle: Throttle;
}

export type ServeHook = (request: IncomingMessage, response: ServerResponse, hook: HookRequest) => Promise<void>;

const DEFAULT_MAX_BODY = 262_144;

export function createServeHook(deps: ServeHookDeps): ServeHook {
  const { config, clock, dedupe } = deps;
  const doOnce = createDoOnce(dedupe, clock);
  const runTransform = createRunTransform(deps);
  const answerTo = async (request: IncomingMessage, rest: string): Promise<Answer> => {
    const body = await bodyOf(request, config());
    const signature = requireSignature(request.headers, body, config(), clock.now());
    const payload = payloadOf(body);
    const delivery = deliveryOf(request.headers, rest, body, signature);
    return signedOnce(
      doOnce,
      rest,
      signature,
    )(delivery, async (keep) => {
      const draft = await draftFor(request, rest, payload);
      if (draft === null) return { status: 204 };
      return act(deps, settleAction(draft, config(), deps.outbound.channels()), delivery.key, keep);
    });
  };
  const draftFor = async (request: IncomingMessage, rest: string, payload: Fields): Promise<Draft | null> => {
    if (rest === "wake" || rest === "agent")
      return {
        kind: rest,
        author: "sender",
        name: rest === "wake" ? "wake" : "Hook",
        isTrusted: false,
        fields: payload,
      };
    const mapping = findMapping(config(), rest, payload);
    if (mapping === undefined) throw new OpenClawError("hook.unknown", "Not Found");
    return draftOf(mapping, { payload, headers: plainHeaders(request), path: rest }, runTransform);
  };
  return async function serveHook(request, response, { rest, peer, throttle }) {
    if (!(await admit(request, response, config(), peer, throttle))) return;
    try {
      const { status, body } = await answerTo(request, rest);
      if (body === undefined) response.writeHead(status).end();
      else sendJson(response, status, body);
    } catch (error) {
      answerFailure(response, error, deps, rest);
    }
  };
}

type Fields = Readonly<Record<string, unknown>>;

async function admit(
  request: IncomingMessage,
  response: ServerResponse,
  { hooks }: Config,
  peer: Peer,
  throttle: Throttle,
): Promise<boolean> {
  const refuse = (status: number, text: string, headers?: Readonly<Record<string, string>>): false => {
    sendText(response, status, text, headers);
    return false;
  };
  if (request.method !== "POST") return refuse(405, "Method Not Allowed", { allow: "POST" });
  if (hasTokenInUrl(request.url ?? ""))
    return refuse(
      400,
      "A token in the URL ends up in logs. Send it as Authorization: Bearer <token> or x-openclaw-token, and replace this token.\n",
    );
  const given = tokenOf(request);
  if (given === undefined) return refuse(401, "Unauthorized");
  const token = hooks?.token ?? "";
  // Counted separately from guesses at the secret of the gateway.
  const verdict = await throttle.check({
    caller: callerOf(peer, "webhook"),
    guessable: isShortToken(token),
    isRight: () => sameSecret(given, token),
  });
  if (verdict.ok) return true;
  if (verdict.waitMs === 0) return refuse(401, "Unauthorized");
  return refuse(429, "Too Many Requests\n", { "retry-after": String(Math.ceil(verdict.waitMs / 1000)) });
}

function tokenOf({ headers }: IncomingMessage): string | undefined {
  const own = headers["x-openclaw-token"];
  return /^bearer\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? (typeof own === "string" ? own : undefined);
}

function hasTokenInUrl(url: string): boolean {
  const at = url.indexOf("?");
  if (at < 0) return false;
  return [...new URLSearchParams(url.slice(at + 1)).keys()].some((key) => key.toLowerCase() === "token");
}

async function bodyOf(request: IncomingMessage, { hooks }: Config): Promise<Buffer> {
  const type = request.headers["content-type"];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type))
    throw new OpenClawError("hook.bad-type", "send the body as application/json");
  return readBody(request, hooks?.maxBodyBytes ?? DEFAULT_MAX_BODY);
}

function payloadOf(body: Buffer): Fields {
  let value: unknown;
  try {
    value = body.length === 0 ? {} : parseStrict(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw new OpenClawError(
      "hook.bad-request",
      `the body is not JSON: ${error instanceof Error ? error.message : "unreadable"}`,
    );
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new OpenClawError("hook.bad-request", "the body must be a JSON object");
}

/** Headers for scripts, without credentials. */
function plainHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const secret = /^(?:authorization|proxy-authorization|cookie)$|token|secret|signature|key/;
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !secret.test(name) ? [[name, value]] : [],
    ),
  );
}

const statuses: Readonly<Record<string, number>> = {
  "hook.bad-request": 400,
  "hook.bad-signature": 401,
  "hook.bad-type": 415,
  "hook.bad-rule": 500,
  "hook.busy": 503,
  "session.busy": 503,
  "gateway.stopping": 503,
  "http.too-large": 413,
  "http.slow": 408,
  "http.broken": 400,
};

function answerFailure(response: ServerResponse, error: unknown, { log, mask }: ServeHookDeps, rest: string): void {
  if (response.headersSent || response.destroyed) return;
  if (!(error instanceof OpenClawError)) throw error;
  const { code, message, hint } = error;
  if (code === "hook.unknown")
    return sendText(response, 404, "Not Found: no rule in hooks.mappings or hooks.presets matches\n");
  const status = statuses[code] ?? (code.startsWith("store.") ? 503 : 400);
  if (status >= 500) log.warn(`webhook ${visible(rest, 80)}: ${message}`, { code, hint });
  if (code.startsWith("http.")) response.setHeader("connection", "close");
  sendJson(response, status, { ok: false, error: mask(message), ...(hint === undefined ? {} : { hint: mask(hint) }) });
}
