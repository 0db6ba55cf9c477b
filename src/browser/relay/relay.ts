// The relay to the user's own browser: a loopback server between the OpenClaw extension and our CDP connection.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

import { newSecret } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { browserError } from "../errors.ts";
import { CDP_PATH, EXTENSION_PATH, EXTENSION_PROTOCOL, TOKEN_HEADER, refusalOf } from "./admission.ts";
import { CdpServer } from "./cdp-server.ts";
import { ExtensionLink } from "./extension-link.ts";
import { relayToken } from "./token.ts";

export interface RelayDeps {
  readonly stateDir: string;
  readonly port: () => number;
  readonly log: Log;
}

export interface RelayEndpoint {
  /** A WebSocket URL for `connectOverCDP`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Relay {
  /** Listens; does nothing when it already listens. */
  start(): Promise<void>;
  readonly isListening: boolean;
  /** True while the extension is connected, with or without attached tabs. */
  hasExtension(): boolean;
  hasTab(): boolean;
  tabCount(): number;
  /** Starts the relay. Throws `browser.relay-no-tab` when no tab is attached. */
  endpoint(): Promise<RelayEndpoint>;
  close(): Promise<void>;
}

const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
/** A service worker that was asleep connects again within this time. */
const CONNECT_GRACE_MS = 3000;

export function createRelay(deps: RelayDeps): Relay {
  const cdpToken = newSecret(32);
  const link = new ExtensionLink(deps.log);
  const cdp = new CdpServer(link, deps.log);
  let server: Promise<Server> | undefined;
  let listening: Server | undefined;

  const start = async (): Promise<void> => {
    server ??= listen(deps, cdpToken, link, cdp);
    try {
      listening = await server;
    } catch (error) {
      server = undefined;
      throw error;
    }
  };
  return {
    start,
    get isListening() {
      return listening !== undefined;
    },
    hasExtension: () => link.isConnected,
    hasTab: () => link.tabs.size > 0,
    tabCount: () => link.tabs.size,
    async endpoint() {
      const wasListening = listening !== undefined;
      await start();
      if (link.tabs.size === 0 && (!wasListening || link.isConnected)) await link.waitForTab(CONNECT_GRACE_MS);
      if (link.tabs.size === 0) throw noTab(link.isConnected);
      return { url: `ws://127.0.0.1:${deps.port()}${CDP_PATH}`, headers: { [TOKEN_HEADER]: cdpToken } };
    },
    async close() {
      const open = await server?.catch(() => undefined);
      server = undefined;
      listening = undefined;
      cdp.close();
      link.close();
      open?.closeAllConnections();
      if (open !== undefined) await new Promise((resolve) => open.close(resolve));
    },
  };
}

function noTab(isConnected: boolean): Error {
  const reason = isConnected ? "" : " (the extension is not connected either)";
  return browserError(
    "browser.relay-no-tab",
    `Chrome extension relay is running, but no tab is connected${reason}. The user has to click the OpenClaw icon in the toolbar of Chrome on the tab to share.`,
    {
      hint: 'ask the user to click the OpenClaw toolbar icon on that tab (openclaw browser extension install sets it up), or use profile "openclaw"',
    },
  );
}

async function listen(deps: RelayDeps, cdpToken: string, link: ExtensionLink, cdp: CdpServer): Promise<Server> {
  const port = deps.port();
  const secrets = { cdp: cdpToken, extension: relayToken(deps.stateDir) };
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    // A result is passed on some promises later than an event: with one message per tick they stay in order.
    allowSynchronousEvents: false,
    handleProtocols: (offered) => (offered.has(EXTENSION_PROTOCOL) ? EXTENSION_PROTOCOL : false),
  });
  const server = createServer((request, response) => {
    const refused = refusalOf(request, secrets);
    const path = (request.url ?? "/").split("?")[0]?.replace(/\/+$/, "") ?? "";
    const answer = refused === undefined ? discovery(path, port, link) : undefined;
    const status = refused?.status ?? (answer === undefined ? 404 : 200);
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
    response.end(JSON.stringify(answer ?? { error: refused?.reason ?? "Not Found" }));
  });
  server.on("upgrade", (request, socket, head) => {
    const path = request.url?.split("?")[0];
    const refused = refusalOf(request, secrets);
    if (refused !== undefined || (path !== CDP_PATH && path !== EXTENSION_PATH)) {
      const { status, reason } = refused ?? { status: 404, reason: "Not Found" };
      deps.log.warn("relay refused a connection", { path, origin: request.headers.origin, reason });
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) =>
      path === CDP_PATH ? cdp.accept(accepted) : link.accept(accepted),
    );
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    throw browserError("browser.start-failed", `the extension relay cannot listen on port ${port}: ${String(error)}`, {
      hint: "end the program that uses this port, or choose another gateway.port (the relay uses gateway.port + 3)",
      cause: error,
    });
  }
  deps.log.info("extension relay listens", { port: (server.address() as AddressInfo).port });
  return server;
}

function discovery(path: string, port: number, link: ExtensionLink): unknown {
  const socket = `ws://127.0.0.1:${port}${CDP_PATH}`;
  if (path === "") return { relay: "openclaw", extensionConnected: link.isConnected, tabs: link.tabs.size };
  if (path === "/json/version") {
    const { product, userAgent } = link.version;
    return {
      Browser: product,
      "Protocol-Version": "1.3",
      "User-Agent": userAgent,
      webSocketDebuggerUrl: socket,
    };
  }
  if (path !== "/json" && path !== "/json/list") return undefined;
  return [...link.tabs.values()].map(({ targetId, title, url }) => ({
    id: targetId,
    type: "page",
    title,
    url,
    webSocketDebuggerUrl: socket,
  }));
}
