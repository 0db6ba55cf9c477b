// The guard for every request that an agent, a sender or a page can steer: checked URL, checked and pinned address, limits.
import { networkInterfaces } from "node:os";

import type { Env } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import { admit, judgeAnswers, judgeName, type Rules } from "./admit.ts";
import { readExceptions } from "./exceptions.ts";
import { guardError, isGuardError, type GuardCode } from "./reasons.ts";
import { authorityOf, openGuardProxy, type GuardProxy } from "./proxy.ts";
import { createResolve } from "./resolve.ts";
import { openRequest, type GuardedResponse, type RequestOptions } from "./request.ts";
import { readTarget } from "./target.ts";

export type { GuardedResponse, GuardProxy, RequestOptions };

export interface GuardOptions extends RequestOptions {
  /** A URL from the config: the owner chose its host, so it may be private. Applies to this host and port only. */
  readonly ownerUrl?: string | undefined;
}

export interface Guard {
  /** Throws `guard.*` from the table of reasons. Any HTTP status is a response. */
  fetch(url: string, options?: GuardOptions): Promise<GuardedResponse>;
  /** The whole body of a successful response. */
  download(
    url: string,
    options?: GuardOptions,
  ): Promise<{ readonly bytes: Buffer; readonly mimeType: string | undefined }>;
  /** For libraries that take a fetch function. The body is streamed, bounded by `maxBytes` alone. */
  fetchFunction(options?: GuardOptions): typeof globalThis.fetch;
  /** What `fetch` would do with the first hop, without connecting. */
  check(url: string): Promise<GuardCheck>;
  /** For programs that load pages themselves. `isOwners` tells which private hosts the owner opened there himself. */
  openProxy(options?: ProxyOptions): Promise<GuardProxy>;
  /** The gateway listens here: no exception opens this port of this machine. */
  reservePort(port: number): void;
}

export interface ProxyOptions {
  readonly port?: number | undefined;
  /** True for `host:port` that the owner opened in that program: it may be private, also the gateway itself. */
  readonly isOwners?: (authority: string) => boolean;
}

export interface GuardCheck {
  readonly allowed: boolean;
  readonly code?: GuardCode;
  readonly reason: string;
  readonly hint?: string | undefined;
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly addresses: readonly string[];
  /** The entry of `tools.web.allowPrivateHosts` that applied. */
  readonly exception?: string | undefined;
}

export interface GuardDeps {
  readonly config: () => Config;
  readonly env: Env;
  /** The network interfaces of this machine. */
  readonly interfaces?: typeof networkInterfaces;
}

const DEFAULT_PORT = 18_789;

export function createGuard({ config, env, interfaces = networkInterfaces }: GuardDeps): Guard {
  const resolve = createResolve(env["OPENCLAW_DNS_SERVER"]);
  const reserved = new Set<number>([Number(env["OPENCLAW_GATEWAY_PORT"] ?? 0)]);
  const rulesFor = (ownerUrl?: string): Rules => {
    const { tools, gateway } = config();
    const owner = ownerUrl === undefined ? [] : ownerEntry(ownerUrl);
    return {
      resolve,
      exceptions: readExceptions([...(tools?.web?.allowPrivateHosts ?? []), ...owner]),
      gatewayPorts: new Set([...reserved, gateway?.port ?? DEFAULT_PORT]),
      interfaces,
    };
  };
  const open = (url: string, { ownerUrl, ...options }: GuardOptions) => {
    const rules = rulesFor(ownerUrl);
    return openRequest(url, options, (target) => admit(target, rules));
  };
  return {
    fetch: (url, options = {}) => open(url, options),
    async download(url, options = {}) {
      const response = await open(url, options);
      const { status, mimeType } = response;
      if (status >= 200 && status <= 299) return { bytes: await response.bytes(), mimeType };
      response.discard();
      throw guardError("guard.status", String(status));
    },
    fetchFunction:
      (options = {}) =>
      async (input, init = {}) => {
        const request = new Request(input, init);
        const hasBody = request.method !== "GET" && request.method !== "HEAD";
        const response = await open(request.url, {
          ...options,
          method: request.method,
          headers: Object.fromEntries(request.headers),
          ...(hasBody ? { body: Buffer.from(await request.arrayBuffer()) } : {}),
          signal: init.signal ?? undefined,
          maxRedirects: init.redirect === "error" || init.redirect === "manual" ? 0 : (options.maxRedirects ?? 3),
        });
        return response.toResponse();
      },
    check: (url) => checkUrl(url, rulesFor()),
    async openProxy({ port, isOwners = () => false } = {}) {
      const proxy = await openGuardProxy({
        port,
        admit(target) {
          const authority = authorityOf(target.url);
          const rules = rulesFor();
          if (!isOwners(authority)) return admit(target, rules);
          return admit(target, {
            ...rules,
            exceptions: readExceptions([authority]),
            gatewayPorts: new Set(),
          });
        },
      });
      reserved.add(proxy.port);
      return proxy;
    },
    reservePort: (port) => void reserved.add(port),
  };
}

function ownerEntry(url: string): string[] {
  const parsed = URL.parse(url);
  if (parsed === null) return [];
  const { port, hostname, protocol } = parsed;
  return [`${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`];
}

async function checkUrl(text: string, rules: Rules): Promise<GuardCheck> {
  const facts: { url?: string; host?: string; port?: number; addresses: string[]; exception?: string | undefined } = {
    addresses: [],
  };
  try {
    const target = readTarget(text);
    Object.assign(facts, { url: target.url.href, host: target.host, port: target.port });
    judgeName(target, rules);
    const answers = target.isAddress
      ? [{ address: target.host, family: 0 }]
      : await rules.resolve(target.host).catch((cause: unknown) => {
          throw guardError("guard.dns", target.host, cause);
        });
    facts.addresses = answers.map(({ address }) => address);
    facts.exception = judgeAnswers(target, answers, rules);
    const why =
      facts.exception === undefined
        ? "every address of the host is public"
        : `tools.web.allowPrivateHosts names ${facts.exception}`;
    return { allowed: true, reason: why, ...facts };
  } catch (error) {
    if (!isGuardError(error)) throw error;
    return { allowed: false, code: error.code as GuardCode, reason: error.message, hint: error.hint, ...facts };
  }
}
