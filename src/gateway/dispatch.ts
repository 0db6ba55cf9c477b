// Dispatches a request of a connected client: checks role, scope and parameters, runs the handler, sends the result.
import { OpenClawError } from "../core/error.ts";
import { describeIssues } from "../core/schema.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { RequestFrame, WireError } from "../protocol/frame.ts";
import type { Method } from "../protocol/method.ts";
import { refusalTexts } from "../protocol/refusal.ts";
import { holdsScope } from "../protocol/scope.ts";
import { errorFrame, okFrame, type Client } from "./client.ts";
import { PreparedJson } from "./frame-bytes.ts";

/** What a handler gives back: the result itself, a serialized one, or two results. */
type Reply<R> = R | PreparedJson<R> | TwoAnswers<R>;
export type Handler<P, R> = (params: P, client: Client, signal: AbortSignal) => Reply<R> | Promise<Reply<R>>;

export interface Served {
  readonly method: Method;
  readonly answer: Handler<never, unknown>;
}

/**
 * Binds a method of the protocol to its handler: `serve(method)(handler)`. Two calls, so that the compiler knows the
 * declared parameters and result before it checks the handler.
 */
export function serve<P, R>(method: Method<P, R>): (answer: Handler<P, R>) => Served {
  return (answer) => ({ method, answer: answer as Handler<never, unknown> });
}

/** A large result that depends only on the config: built and serialized once per config. */
export function preparedFor<C extends object, R>(
  config: () => C,
  build: () => Promise<R>,
): () => Promise<PreparedJson<R>> {
  let last: { readonly of: C; readonly answer: Promise<PreparedJson<R>> } | undefined;
  return () => {
    const now = config();
    if (last?.of === now) return last.answer;
    const answer = build().then((value) => new PreparedJson(value));
    const entry = { of: now, answer };
    last = entry;
    // The next request tries again.
    answer.catch(() => {
      if (last === entry) last = undefined;
    });
    return answer;
  };
}

/** Two results of one request, as `agent` gives: `accepted` immediately, the outcome when the run ends. */
class TwoAnswers<R = unknown> {
  readonly first: R;
  readonly later: Promise<R>;
  constructor(first: R, later: Promise<R>) {
    this.first = first;
    this.later = later;
  }
}

export function answerTwice<R>(first: R, later: Promise<R>): TwoAnswers<R> {
  return new TwoAnswers(first, later);
}

export interface Dispatch {
  readonly announced: readonly string[];
  /** Never throws; sends one response frame, or two where the method says so. */
  handle(frame: RequestFrame, client: Client): Promise<void>;
}

export interface DispatchDeps {
  readonly log: Log;
  readonly mask: Mask;
  /** The session that a key or name in a request refers to; undefined when it is none. */
  readonly sessionOf?: (word: string) => string | undefined;
}

export function createDispatch(served: readonly Served[], { log, mask, sessionOf }: DispatchDeps): Dispatch {
  const table = new Map<string, Served>();
  for (const entry of served) {
    if (table.has(entry.method.name)) throw new Error(`method ${entry.method.name} is served twice`);
    table.set(entry.method.name, entry);
  }

  return {
    announced: served.filter(({ method }) => method.announced).map(({ method }) => method.name),
    async handle(frame, client) {
      try {
        const { method, answer } = admit(table.get(frame.method), frame, client);
        const params = paramsOf(method, frame.params);
        const session = sessionOf?.(sessionNamedIn(method, params) ?? "");
        if (session !== undefined) rememberSession(client, session);
        const payload = await answer(params as never, client, client.gone);
        client.answer(okFrame(frame.id, payload instanceof TwoAnswers ? payload.first : payload));
        if (payload instanceof TwoAnswers) client.answer(okFrame(frame.id, await payload.later));
      } catch (error) {
        client.answer(errorFrame(frame.id, toWireError(error, frame.method, log, mask)));
      }
    },
  };
}

/** `agent` without a session uses the main one; other methods name it. */
function sessionNamedIn({ name }: Method, params: unknown): string | undefined {
  const { sessionKey, key } = params as { readonly sessionKey?: unknown; readonly key?: unknown };
  if (typeof sessionKey === "string") return sessionKey;
  if (typeof key === "string" && name.startsWith("sessions.")) return key;
  return name === "agent" ? "main" : undefined;
}

const MAX_SESSIONS = 200;

/** Remembers the sessions that the client asked about last. */
function rememberSession({ sessions }: Client, session: string): void {
  sessions.delete(session);
  sessions.add(session);
  if (sessions.size <= MAX_SESSIONS) return;
  for (const oldest of sessions) return void sessions.delete(oldest);
}

function admit(entry: Served | undefined, frame: RequestFrame, client: Client): Served {
  if (frame.method === "connect") throw invalid("connect is only valid as the first request");
  const needs = entry?.method.needs;
  if (client.role === "node" ? needs !== undefined && needs !== "node" : needs === "node")
    throw invalid(`unauthorized role: ${client.role}`);
  if (entry === undefined || needs === undefined) throw invalid(refusalTexts.unknownMethod(frame.method.slice(0, 80)));
  if (needs !== "node" && !holdsScope(client.scopes, needs)) throw invalid(refusalTexts.missingScope(needs));
  return entry;
}

function paramsOf(method: Method, raw: unknown): unknown {
  const params = raw ?? {};
  if (method.params === undefined) return typeof params === "object" && !Array.isArray(params) ? params : {};
  const issues = method.params.issues(params);
  if (issues.length === 0) return params;
  throw invalid(`invalid ${method.name} params: ${describeIssues(issues.slice(0, 12))}`);
}

function invalid(message: string): OpenClawError {
  return new OpenClawError("wire.invalid-request", message);
}

/** Expected failures keep their message; for a bug, clients get only a reference to the log entry. */
export function toWireError(error: unknown, what: string, log: Log, mask: Mask): WireError {
  if (!(error instanceof OpenClawError)) {
    const reference = newId().slice(0, 8);
    log.error(`unexpected failure in ${what} (reference ${reference})`, { error });
    return { code: "UNAVAILABLE", message: `internal error (reference ${reference})`, details: { reference } };
  }
  const { code, message, hint, details } = error;
  const down = code.startsWith("store.") || code.startsWith("file.") || code === "gateway.closing";
  const away = code === "node.not-connected" || code === "node.failed" || code === "node.timeout";
  if (code === "wire.invalid-request") return { code: "INVALID_REQUEST", message: mask(message) };
  return {
    code: down || away ? "UNAVAILABLE" : "INVALID_REQUEST",
    message: mask(message),
    details: {
      code,
      ...(hint === undefined ? {} : { hint: mask(hint) }),
      ...(typeof details === "object" ? details : {}),
    },
    ...(down ? { retryable: true } : {}),
  };
}
