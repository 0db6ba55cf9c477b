// Fetches an untrusted URL: only public addresses, checked when the connection is made, with size and time limits.
import { lookup as systemLookup, type LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type LookupFunction } from "node:net";

import { OpenClawError } from "../core/error.ts";

export interface FetchLimits {
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly timeoutMs: number;
}

export interface Fetched {
  readonly bytes: Buffer;
  /** As the server states it, without parameters. */
  readonly mimeType: string | undefined;
}

/** Rejects with `fetch.refused` for what may not be reached and with `fetch.failed` for what cannot be. */
export async function fetchPublic(url: string, limits: FetchLimits, isAllowed = isPublicAddress): Promise<Fetched> {
  const signal = AbortSignal.timeout(limits.timeoutMs);
  let target = url;
  for (let left = limits.maxRedirects; ; left--) {
    const response = await open(parse(target), signal, isAllowed);
    const next = redirectOf(response);
    if (next === undefined) return read(response, limits.maxBytes);
    response.destroy();
    if (left <= 0) throw new OpenClawError("fetch.failed", `more than ${limits.maxRedirects} redirects`);
    target = new URL(next, target).href;
  }
}

function parse(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new OpenClawError("fetch.refused", "only http and https URLs are fetched");
  if (parsed.username !== "" || parsed.password !== "")
    throw new OpenClawError("fetch.refused", "URLs with a user name or password are not fetched");
  return parsed;
}

function open(url: URL, signal: AbortSignal, isAllowed: (address: string) => boolean): Promise<IncomingMessage> {
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  // An address needs no lookup, so it is checked here.
  if (isIP(host) !== 0 && !isAllowed(host)) return Promise.reject(refusedAddress());
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent: false,
      signal,
      lookup: checkedLookup(isAllowed),
      headers: { "user-agent": "openclaw", "accept-encoding": "identity" },
    });
    sent.on("response", resolve);
    sent.on("error", (cause) => reject(cause instanceof OpenClawError ? cause : failed(cause)));
    sent.end();
  });
}

/** The connection is made to what was checked: a name cannot change its address in between. */
function checkedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (host, options, done) => {
    systemLookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return done(error, "");
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => isAllowed(address))) return done(refusedAddress(), "");
      if (options.all === true) return done(null, found);
      done(null, first.address, first.family);
    });
  };
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) return headers.location;
  if (statusCode >= 200 && statusCode < 300) return undefined;
  throw new OpenClawError("fetch.failed", `the server answered ${statusCode}`);
}

async function read(response: IncomingMessage, maxBytes: number): Promise<Fetched> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new OpenClawError("fetch.refused", `it is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw cause instanceof OpenClawError ? cause : failed(cause);
  } finally {
    response.destroy();
  }
  return {
    bytes: Buffer.concat(chunks),
    mimeType: response.headers["content-type"]?.split(";")[0]?.trim().toLowerCase(),
  };
}

function failed(cause: unknown): OpenClawError {
  return new OpenClawError("fetch.failed", cause instanceof Error ? cause.message : String(cause), { cause });
}

function refusedAddress(): OpenClawError {
  return new OpenClawError("fetch.refused", "its address is not a public one");
}

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, "ipv4");
  // Global unicast alone, and of it nothing that stands for another address.
  return family === 6 && global.check(address, "ipv6") && !special.check(address, "ipv6");
}

const special = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const)
  special.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  special.addSubnet(net, bits, "ipv6");

const global = new BlockList();
global.addSubnet("2000::", 3, "ipv6");
