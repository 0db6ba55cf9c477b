// The OAuth login at an MCP server: registration, tokens and their refresh, kept in a private file of the state folder.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { OAuthClientProvider, OAuthClientMetadata } from "@modelcontextprotocol/client";

import { errnoOf, ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { writeFileAtomic } from "../../base/atomic-file.ts";
import { newSecret } from "../../base/ids.ts";
import { mcpFolder } from "./pins.ts";
import type { McpServer } from "./servers.ts";

export interface LoginOptions {
  readonly server: McpServer;
  readonly stateDir: string;
  /** Tokens are masked in logs and results from the moment they are known. */
  readonly learn: (secrets: readonly string[]) => void;
  /** Only `openclaw mcp login` can open a browser; everywhere else a login that is needed is an error. */
  readonly browser?: { readonly redirectUrl: string; open(url: URL): void };
}

/** One login, as it is stored. Each part is what the SDK gave us, unchanged. */
interface Stored {
  /** The server that it belongs to: tokens never go to another address. */
  readonly url?: string;
  readonly client?: unknown;
  readonly tokens?: unknown;
  readonly verifier?: string;
}

export const loginFile = (stateDir: string, id: string): string => join(mcpFolder(stateDir), `${id}.login.json`);

export function forgetLogin(stateDir: string, id: string): void {
  rmSync(loginFile(stateDir, id), { force: true });
}

export function isLoggedIn({ id, config }: McpServer, stateDir: string): boolean {
  return readStored(loginFile(stateDir, id), config.url).tokens !== undefined;
}

export function createLogin({
  server,
  stateDir,
  learn,
  browser,
}: LoginOptions): OAuthClientProvider & { readonly expectedState: string } {
  const { id, config } = server;
  const file = loginFile(stateDir, id);
  const read = (): Stored => readStored(file, config.url);
  const write = (change: Stored): void => {
    learn(secretsOf(change));
    writeFileAtomic(file, `${JSON.stringify({ ...read(), ...change, url: config.url }, null, 1)}\n`);
  };
  const { clientId, clientSecret, scope } = config.oauth ?? {};
  const expectedState = newSecret(16);
  learn(secretsOf(read()));
  const clientMetadata: OAuthClientMetadata = {
    client_name: "OpenClaw",
    redirect_uris: [browser?.redirectUrl ?? "http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_post",
    ...(scope === undefined ? {} : { scope }),
  };
  return {
    expectedState,
    redirectUrl: browser?.redirectUrl ?? "http://127.0.0.1/callback",
    clientMetadata,
    state: () => expectedState,
    clientInformation: () =>
      clientId === undefined
        ? (read().client as ReturnType<OAuthClientProvider["clientInformation"]>)
        : { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) },
    saveClientInformation: (client) => write({ client }),
    tokens: () => read().tokens as ReturnType<OAuthClientProvider["tokens"]>,
    saveTokens: (tokens) => write({ tokens }),
    redirectToAuthorization(url) {
      if (browser === undefined) throw loginNeeded(id);
      browser.open(url);
    },
    saveCodeVerifier: (verifier) => write({ verifier }),
    codeVerifier: () => read().verifier ?? "",
    invalidateCredentials(part) {
      if (part === "all") return forgetLogin(stateDir, id);
      if (part === "client") write({ client: undefined, tokens: undefined });
      if (part === "tokens") write({ tokens: undefined });
      if (part === "verifier") write({ verifier: "" });
    },
  };
}

export function loginNeeded(id: string): ToolError {
  return new ToolError("mcp.login-needed", `MCP server ${id} needs a login, or the login has expired`, {
    hint: `openclaw mcp login ${id}`,
  });
}

function secretsOf({ tokens, client, verifier }: Stored): string[] {
  const values = [tokens, client].flatMap((part) =>
    isRecord(part) ? [part["access_token"], part["refresh_token"], part["id_token"], part["client_secret"]] : [],
  );
  return [...values, verifier].filter((value): value is string => typeof value === "string" && value !== "");
}

function readStored(file: string, url: string | undefined): Stored {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isRecord(value) && value["url"] === url ? (value as Stored) : {};
  } catch (error) {
    // A login that cannot be read is made again.
    if (error instanceof SyntaxError || errnoOf(error) === "ENOENT") return {};
    throw error;
  }
}
