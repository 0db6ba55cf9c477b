// Reads an untrusted URL: one spelling for every host, refused where two parsers could disagree about it.
import { isIP } from "node:net";

import { guardError } from "./reasons.ts";

export interface Target {
  readonly url: URL;
  /** In lower case, without brackets and without the final dot. */
  readonly host: string;
  readonly port: number;
  /** True when the host is an address and not a name. */
  readonly isAddress: boolean;
}

const MAX_URL_CHARS = 8192;

/** Throws `guard.*`. Names are not resolved here. */
export function readTarget(text: string, base?: URL): Target {
  const trimmed = text.trim();
  if (trimmed.length > MAX_URL_CHARS) throw guardError("guard.invalid-url", `longer than ${MAX_URL_CHARS} characters`);
  // The WHATWG parser drops line breaks and reads "\" as "/"; other parsers find another host there.
  if (/[\p{Cc}\\]/u.test(trimmed)) throw guardError("guard.invalid-url", "control characters or backslashes");
  const url = URL.parse(trimmed, base?.href);
  if (url === null) throw guardError("guard.invalid-url");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw guardError("guard.scheme", url.protocol);
  const host = hostOf(url);
  // Before anything else is said about the URL: it may name a private host behind the "@".
  if (url.username !== "" || url.password !== "") throw guardError("guard.credentials");
  if (host === "" || host.startsWith(".") || host.includes("..")) throw guardError("guard.invalid-url", "host name");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return { url, host, port, isAddress: isIP(host) !== 0 };
}

/** The URL parser has already turned decimal, octal, hex, short and non-ASCII spellings into one. */
export function hostOf(url: URL): string {
  const bare = url.hostname.replaceAll(/^\[|\]$/g, "").toLowerCase();
  return bare.endsWith(".") ? bare.slice(0, -1) : bare;
}

/** Names that only a private network answers. A public answer to one of them would be a trap. */
export function isPrivateName(host: string): boolean {
  return isIP(host) === 0 && privateNames.test(host);
}

const privateNames =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|onion)$|^(?:ip6-)?(?:localhost|loopback)$/;

/** True for a port where a request would be an attack on another protocol. */
export const isBadPort = (port: number): boolean => badPorts.has(port);

/** Ports that browsers refuse as well (Fetch standard, "port blocking"). */
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
