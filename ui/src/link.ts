// Reads what a link brings in its fragment or query, and says what the address bar should hold afterwards.

export interface Link {
  /** One-time code of `#pair=<code>`. */
  readonly code?: string;
  /** A token came in the address. It is thrown away: addresses end up in histories and logs. */
  readonly refusedToken: boolean;
  /** The address without secrets, or undefined when it may stay as it is. */
  readonly cleanUrl?: string;
}

const secretKeys = ["token", "password", "gatewayUrl"] as const;

export function readLink(address: string): Link {
  const url = new URL(address);
  const fragment = fragmentOf(url);
  const code = fragment?.get("pair") ?? undefined;
  const inQuery = secretKeys.filter((key) => url.searchParams.has(key));
  const inFragment = secretKeys.some((key) => fragment?.has(key) === true);
  const refusedToken = inFragment || inQuery.length > 0;
  if (fragment?.has("pair") !== true && !refusedToken) return { refusedToken };
  for (const key of inQuery) url.searchParams.delete(key);
  if (fragment !== undefined) url.hash = "";
  return { ...(code === undefined || code === "" ? {} : { code }), refusedToken, cleanUrl: url.href };
}

/** `#/tools` is a place in the page, `#a=b` carries values. */
function fragmentOf(url: URL): URLSearchParams | undefined {
  if (url.hash === "" || url.hash.startsWith("#/")) return undefined;
  return new URLSearchParams(url.hash.slice(1));
}
