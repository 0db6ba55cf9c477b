// One request on its way through a method: the request, its exchange, and the forms an answer takes.
import { visible } from "../../core/visible.ts";
import { refusal, result, RPC, type RpcAnswer, type RpcRequest } from "../message.ts";
import type { Exchange } from "./exchange.ts";
import { userOf, type ServerParts } from "./parts.ts";
import type { McpUser } from "./registry.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What policy shows may change with every edit of the config, and belongs to one caller. */
export const UNCACHED = { ttlMs: 0, cacheScope: "private" } as const;

export class MethodCall {
  readonly request: RpcRequest;
  readonly exchange: Exchange;
  readonly parts: ServerParts;

  constructor(request: RpcRequest, exchange: Exchange, parts: ServerParts) {
    this.request = request;
    this.exchange = exchange;
    this.parts = parts;
  }

  get params(): Fields {
    return this.request.params;
  }

  /** Whether the request states its revision itself instead of having agreed on one with `initialize`. */
  get isStateless(): boolean {
    return this.request.revision !== undefined;
  }

  user(): Promise<McpUser> {
    return userOf(this.exchange, this.parts.ports);
  }

  done(value: Fields): RpcAnswer {
    return result(this.request, value, this.parts.serverInfo);
  }

  /** A result that clients must not cache. */
  uncached(value: Fields): RpcAnswer {
    return this.done({ ...value, ...(this.isStateless ? UNCACHED : {}) });
  }

  /** Every list is one page, so a cursor is always unknown. */
  list(value: Fields): RpcAnswer {
    return this.params["cursor"] === undefined ? this.uncached(value) : this.bad("unknown cursor: list from the start");
  }

  bad(message: string): RpcAnswer {
    return refusal(200, RPC.badParams, message, this.request.id);
  }

  unknown(): RpcAnswer {
    const { method, id } = this.request;
    return refusal(this.isStateless ? 404 : 200, RPC.unknownMethod, `unknown method: ${visible(method, 80)}`, id);
  }
}
