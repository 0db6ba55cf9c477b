// The interactive part of a login: a loopback address that the browser returns to, and the exchange of the code.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { auth, type FetchLike } from "@modelcontextprotocol/client";

import { sameSecret } from "../../base/ids.ts";
import { OpenClawError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import { createLogin, type LoginOptions } from "./login.ts";

export interface BrowserLogin extends Omit<LoginOptions, "browser"> {
  readonly fetch: FetchLike;
  readonly show: (url: string) => void;
  readonly signal: AbortSignal;
}

export async function logInByBrowser({ fetch, show, signal, ...options }: BrowserLogin): Promise<void> {
  const { id, config } = options.server;
  const serverUrl = config.url ?? "";
  const { promise: returned, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  returned.catch(() => {}); // awaited below, after the first request
  const listener = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method !== "GET" || url.pathname !== "/callback") return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end("You can close this window and return to the terminal.\n");
    resolve(url.searchParams);
  });
  await new Promise<void>((listening, failed) => {
    listener.once("error", failed);
    listener.listen(config.oauth?.redirectPort ?? 0, "127.0.0.1", listening);
  });
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const { port } = listener.address() as AddressInfo;
    const browser = { redirectUrl: `http://127.0.0.1:${port}/callback`, open: (url: URL) => show(url.href) };
    const provider = createLogin({ ...options, browser });
    // A client that was registered for another port would be rejected.
    await provider.invalidateCredentials?.("client");
    const { scope } = config.oauth ?? {};
    const request = { serverUrl, fetchFn: fetch, ...(scope === undefined ? {} : { scope }) };
    if ((await auth(provider, request)) === "AUTHORIZED") return;
    const answer = await returned;
    const code = codeIn(answer, provider.expectedState, id);
    const iss = answer.get("iss");
    await auth(provider, { ...request, authorizationCode: code, ...(iss === null ? {} : { iss }) });
  } finally {
    signal.removeEventListener("abort", onAbort);
    listener.close();
    listener.closeAllConnections();
  }
}

function codeIn(answer: URLSearchParams, expectedState: string, id: string): string {
  const code = answer.get("code");
  const isOurs = sameSecret(answer.get("state") ?? "", expectedState);
  if (code !== null && isOurs) return code;
  const why = isOurs
    ? visible(answer.get("error_description") ?? answer.get("error") ?? "no code came back")
    : "the answer belongs to another login";
  throw new OpenClawError("mcp.login-failed", `the login at MCP server ${id} failed: ${why}`, {
    hint: `openclaw mcp login ${id}`,
  });
}
