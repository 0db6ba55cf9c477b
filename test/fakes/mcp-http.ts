// Serves the MCP server of the tests over streamable HTTP on loopback, with an OAuth server that checks PKCE and can expire tokens.
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { fakeMcpServer, type FakeMcpServer, type FakeServerPlan, type RpcMessage } from "./mcp-tools.ts";

export interface FakeMcpHttp {
  readonly url: string;
  /** Every request: method, path and the Authorization header. */
  readonly requests: { readonly method: string; readonly path: string; readonly authorization: string | undefined }[];
  /** Tokens that were given out. */
  readonly tokens: readonly string[];
  /** The access tokens are no longer accepted; refresh tokens are, unless `all`. */
  expire(all?: boolean): void;
  /** Forgets every session, as a restart would. */
  forgetSessions(): void;
  close(): Promise<void>;
}

export interface HttpPlan {
  readonly oauth?: boolean;
  /** The authorization server that it names instead of its own. */
  readonly authorizationServer?: string;
}

export async function startFakeMcpHttp(plan: FakeServerPlan & HttpPlan = {}): Promise<FakeMcpHttp> {
  const requests: FakeMcpHttp["requests"] = [];
  const sessions = new Map<string, FakeMcpServer>();
  const valid = new Set<string>();
  const refreshable = new Set<string>();
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const json = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", root);
    const { authorization } = request.headers;
    requests.push({ method: request.method ?? "", path: url.pathname, authorization });
    if (url.pathname === "/mcp") return serveMcp(request, response, authorization);
    if (plan.oauth !== true) return void response.writeHead(404).end();
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
      return json(response, { resource: `${root}/mcp`, authorization_servers: [plan.authorizationServer ?? root] });
    if (url.pathname.startsWith("/.well-known/oauth-authorization-server"))
      return json(response, {
        issuer: root,
        authorization_endpoint: `${root}/authorize`,
        token_endpoint: `${root}/token`,
        registration_endpoint: `${root}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    if (url.pathname === "/register")
      return json(response, { ...JSON.parse(await bodyOf(request)), client_id: "client-1" }, 201);
    if (url.pathname === "/authorize") return authorize(url, response);
    if (url.pathname === "/token") return token(new URLSearchParams(await bodyOf(request)), response);
    response.writeHead(404).end();
  }

  function authorize({ searchParams }: URL, response: ServerResponse): void {
    const code = randomUUID();
    const redirect = new URL(searchParams.get("redirect_uri") ?? "");
    codes.set(code, { challenge: searchParams.get("code_challenge") ?? "", redirect: redirect.href });
    redirect.searchParams.set("code", code);
    redirect.searchParams.set("state", searchParams.get("state") ?? "");
    response.writeHead(302, { location: redirect.href }).end();
  }

  function token(form: URLSearchParams, response: ServerResponse): void {
    const isRefresh = form.get("grant_type") === "refresh_token";
    const code = codes.get(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isGood = isRefresh ? refreshable.delete(form.get("refresh_token") ?? "") : code?.challenge === challenge;
    if (!isGood) return json(response, { error: "invalid_grant" }, 400);
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    valid.add(access);
    refreshable.add(refresh);
    tokens.push(access, refresh);
    json(response, { access_token: access, refresh_token: refresh, token_type: "Bearer", expires_in: 3600 });
  }

  async function serveMcp(request: IncomingMessage, response: ServerResponse, authorization?: string): Promise<void> {
    if (plan.oauth === true && !valid.has(authorization?.replace(/^Bearer /, "") ?? "")) {
      const challenge = `Bearer resource_metadata="${root}/.well-known/oauth-protected-resource"`;
      return json(response, { error: "unauthorized" }, 401, { "www-authenticate": challenge });
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(await bodyOf(request)) as RpcMessage;
    const given = request.headers["mcp-session-id"];
    const isFirst = message.method === "initialize";
    if (message.method === "server/discover")
      return json(response, { jsonrpc: "2.0", id: message.id, error: { code: -32_601, message: "Method not found" } });
    if (!isFirst && !sessions.has(String(given))) return json(response, { error: "unknown session" }, 404);
    const id = isFirst ? randomUUID() : String(given);
    if (isFirst)
      sessions.set(
        id,
        fakeMcpServer(plan, () => {}),
      );
    const answer = await sessions.get(id)?.handle(message);
    if (answer === undefined) return void response.writeHead(202).end();
    json(response, answer, 200, isFirst ? { "mcp-session-id": id } : {});
  }

  return {
    url: `${root}/mcp`,
    requests,
    tokens,
    expire(all = false) {
      valid.clear();
      if (all) refreshable.clear();
    },
    forgetSessions: () => sessions.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
