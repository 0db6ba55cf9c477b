// Reads pairing codes from an address and removes secrets from it.

export interface Link {
  /** One-time code of `#pair=<code>`. */
  readonly code?: string;
  /** The address contained a token, which is ignored: addresses end up in histories and logs. */
  readonly refusedToken: boolean;
  /** The address without secrets; undefined when it contains none. */
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

/** `#/tools` names a view, `#a=b` contains values. */
function fragmentOf(url: URL): URLSearchParams | undefined {
  if (url.hash === "" || url.hash.startsWith("#/")) return undefined;
  return new URLSearchParams(url.hash.slice(1));
}
