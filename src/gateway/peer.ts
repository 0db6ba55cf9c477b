// Where a connection comes from: the real address, whether it is local, whether Host and Origin are ours.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

export interface Peer {
  /** One spelling per client: IPv4-mapped IPv6 is folded, so that another spelling does not double a limit. */
  readonly address: string;
  /** A socket from this machine to itself, without proxy headers (trusted or not), and with a Host header that names it. */
  readonly local: boolean;
  readonly origin: string | undefined;
  readonly host: string | undefined;
  readonly userAgent: string | undefined;
}

export interface PeerRules {
  readonly trustedProxies: readonly string[];
  /** Further accepted Host names, besides loopback, IP literals and the bound addresses. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Where the gateway listens. */
  readonly boundTo?: readonly string[];
}

export function peerOf(request: IncomingMessage, rules: PeerRules): Peer {
  const socketAddress = foldAddress(request.socket.remoteAddress ?? "");
  const { headers } = request;
  const host = onlyHost(request);
  const proxies = new Set(rules.trustedProxies.map(foldAddress));
  const forwarded = proxies.has(socketAddress) ? forwardedFor(headers, proxies) : undefined;
  return {
    address: forwarded ?? socketAddress,
    local: isFromThisMachine(request, socketAddress, proxies, rules) && !hasProxyHeaders(headers),
    origin: headers.origin,
    host,
    userAgent: headers["user-agent"],
  };
}

/**
 * A gateway bound to one address does not listen on loopback, so the owner's own commands use that address. The kernel sends
 * such a connection over the loopback interface, so no other machine can have the same address at both ends.
 */
function isFromThisMachine(
  request: IncomingMessage,
  socketAddress: string,
  proxies: ReadonlySet<string>,
  { boundTo = [] }: PeerRules,
): boolean {
  const name = hostName(onlyHost(request));
  if (isLoopback(socketAddress)) return isLoopbackHost(name);
  const isOwnAddress = boundTo.some((address) => foldAddress(address) === socketAddress);
  return isOwnAddress && name === socketAddress && !proxies.has(socketAddress);
}

/** Two Host headers mean different things to different readers, so they count as none. */
function onlyHost({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const count = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  return count > 1 ? undefined : headers.host;
}

/** A page of another site without an Origin to check: browsers do not send this by themselves, and programs do not claim it. */
export function isFromElsewhere({ method, headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  if (site === undefined || method === "GET" || method === "HEAD") return false;
  return headers.origin === undefined && site !== "same-origin" && site !== "none";
}

/** Rejects names that resolve to us without being ours: the guard against DNS rebinding. IP literals cannot be rebound. */
export function isOurHost(peer: Peer, { allowedHosts }: PeerRules): boolean {
  const name = hostName(peer.host);
  if (name === undefined) return false;
  return (
    isLoopbackHost(name) || isIP(name) !== 0 || allowedHosts.some((allowed) => allowed.trim().toLowerCase() === name)
  );
}

/** A browser always sends the origin of its page; only our own page, or a listed origin, may connect. */
export function isOurOrigin(peer: Peer, { allowedOrigins }: PeerRules): boolean {
  const { origin, host } = peer;
  if (origin === undefined) return true;
  const given = parseOrigin(origin);
  if (given === undefined) return false;
  if (host !== undefined && given.host === host.toLowerCase()) return true;
  return allowedOrigins.some((allowed) => parseOrigin(allowed)?.origin === given.origin);
}

export function foldAddress(address: string): string {
  const plain = address
    .trim()
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/%.*$/, "");
  const mapped = /^(?:0{0,4}:){0,5}:?(?:0{0,4}:)?ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  return mapped?.[1] ?? plain;
}

export function isLoopback(address: string): boolean {
  return address === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}

export function isLoopbackHost(name: string | undefined): boolean {
  return name !== undefined && (name === "localhost" || isLoopback(name));
}

function hostName(host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]+))(?::\d{1,5})?$/.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function parseOrigin(origin: string): URL | undefined {
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  return url.protocol === "http:" || url.protocol === "https:" ? url : undefined;
}

/** Headers that proxies, tunnels and content networks add; a program that connects directly sends none of them. */
const proxyHeader = new RegExp(
  `^(?:${[
    ".*(?:forward(?:ed)?(?:-?for)?|proxy(?!-connection$)|proxied|gateway-ip|loadbalancer|varnish|haproxy).*",
    "(?:.*-)?(?:real|client|remote|user|peer|source|src|origin|originating|connecting|viewer)-?(?:ip|addr|address|host|port)",
    "(?:.*-)?ssl-.*",
    "(?:.*-)?client-(?:cert|verify|dn|ssl).*",
    "x-(?:original|rewrite|envoy|amzn|amz-cf|azure|arr|appengine|appgw|cloud-trace|vercel|nginx|scheme|host|url|waf|lb|backend|served)(?:-.*)?",
    "(?:x-)?(?:cf|tailscale|fastly|fly|ngrok|akamai|edge|incap|sucuri|cdn|surrogate|remote-user|remote-groups|authentik|pomerium|goog-iap|ms-client-principal)(?:-.*)?",
    "(?:.*-)?via",
  ].join("|")})$`,
);

function hasProxyHeaders(headers: IncomingMessage["headers"]): boolean {
  return Object.keys(headers).some((name) => proxyHeader.test(name.replaceAll("_", "-")));
}

/** The last hop that is not a trusted proxy; earlier hops are claims of the client. */
function forwardedFor(headers: IncomingMessage["headers"], proxies: ReadonlySet<string>): string | undefined {
  const list = headers["x-forwarded-for"] ?? headers["x-real-ip"];
  const hops = (Array.isArray(list) ? list.join(",") : (list ?? "")).split(",").map(foldAddress);
  const client = hops.findLast((hop) => !proxies.has(hop));
  return client !== undefined && isIP(client) !== 0 ? client : undefined;
}
