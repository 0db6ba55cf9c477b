// Finds the WebSocket of a browser from its debugging URL; credentials of the URL stay with both.
import { request as httpRequest } from "node:http";

import { isRecord } from "../core/record.ts";
import { browserError } from "./errors.ts";
import { isLoopback, maskUrl } from "./profiles.ts";

export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_ANSWER_CHARS = 65_536;

/** Undefined when no browser answers in time. Throws `browser.blocked` when it points to another host. */
export async function discover(cdpUrl: string, timeoutMs: number): Promise<Endpoint | undefined> {
  if (isSocketUrl(cdpUrl)) return discoverAtSocket(cdpUrl, timeoutMs);
  const { base, headers } = withoutCredentials(cdpUrl);
  if (base.protocol === "ws:" || base.protocol === "wss:") return { url: base.href, headers };
  const answer = await getJson(cdpUrl, "/json/version", timeoutMs);
  if (!isRecord(answer)) return undefined;
  const found = socketIn(answer);
  if (found === null) return undefined;
  // A browser behind a proxy names its own loopback address; any other host would receive the credentials.
  if (found.hostname !== base.hostname && !isLoopback(found.href) && found.hostname !== "0.0.0.0")
    throw browserError(
      "browser.blocked",
      `the browser at ${maskUrl(cdpUrl)} names a WebSocket on another host (${found.hostname})`,
      { hint: "set cdpUrl to the host that serves the WebSocket, if you trust it" },
    );
  const url = new URL(`${found.pathname}${found.search}`, base);
  url.protocol = base.protocol === "https:" ? "wss:" : "ws:";
  for (const [name, value] of base.searchParams) if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  return { url: url.href, headers };
}

/** `unix:<path>`: the socket of a browser in a sandbox, which has no port on this machine. */
export const isSocketUrl = (cdpUrl: string): boolean => cdpUrl.startsWith("unix:");

async function discoverAtSocket(cdpUrl: string, timeoutMs: number): Promise<Endpoint | undefined> {
  const answer = await getJson(cdpUrl, "/json/version", timeoutMs);
  const found = isRecord(answer) ? socketIn(answer) : null;
  return found === null ? undefined : { url: `ws+${cdpUrl}:${found.pathname}`, headers: {} };
}

/** Number of pages; undefined when no browser answers. */
export async function countTabs(cdpUrl: string, timeoutMs: number): Promise<number | undefined> {
  const answer = await getJson(cdpUrl, "/json/list", timeoutMs);
  if (!Array.isArray(answer)) return undefined;
  return answer.filter((target) => isRecord(target) && target["type"] === "page").length;
}

/** True when the WebSocket accepts a connection. */
export function handshakes({ url, headers }: Endpoint, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    // Node's WebSocket cannot connect to a socket file; the browser behind it answered a moment ago.
    if (url.startsWith("ws+unix:")) return resolve(true);
    // Node's WebSocket takes headers; the type of the standard does not have them.
    const Socket = WebSocket as new (url: string, options: object) => WebSocket;
    const socket = new Socket(url, { headers });
    const finish = (isReady: boolean): void => {
      clearTimeout(timer);
      socket.close();
      resolve(isReady);
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    socket.addEventListener("open", () => finish(true), { once: true });
    socket.addEventListener("error", () => finish(false), { once: true });
  });
}

function withoutCredentials(cdpUrl: string): { readonly base: URL; readonly headers: Record<string, string> } {
  const base = URL.parse(cdpUrl);
  if (base === null || !/^(?:https?|wss?):$/.test(base.protocol))
    throw browserError("browser.bad-request", "cdpUrl must be an http, https, ws or wss URL");
  const { username, password } = base;
  base.username = "";
  base.password = "";
  if (username === "" && password === "") return { base, headers: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { base, headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` } };
}

async function getJson(cdpUrl: string, path: string, timeoutMs: number): Promise<unknown> {
  if (isSocketUrl(cdpUrl)) return getJsonAtSocket(cdpUrl.slice("unix:".length), path, timeoutMs);
  const { base, headers } = withoutCredentials(cdpUrl);
  if (base.protocol.startsWith("ws")) base.protocol = base.protocol === "wss:" ? "https:" : "http:";
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, "")}${path}`;
  try {
    // A redirect would carry the credentials to another host.
    const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
    const text = await response.text();
    return response.ok && text.length <= MAX_ANSWER_CHARS ? (JSON.parse(text) as unknown) : undefined;
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function getJsonAtSocket(socketPath: string, path: string, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve) => {
    const request = httpRequest(
      { socketPath, path, headers: { host: "127.0.0.1" }, timeout: timeoutMs },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MAX_ANSWER_CHARS) request.destroy();
        });
        response.on("close", () => resolve(response.statusCode === 200 && response.complete ? parse(text) : undefined));
      },
    );
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(undefined));
    request.end();
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function socketIn(answer: Record<string, unknown>): URL | null {
  const url = answer["webSocketDebuggerUrl"];
  return typeof url === "string" ? URL.parse(url) : null;
}
