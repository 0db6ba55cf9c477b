// A gateway whose agents reach test servers on loopback under names, through a DNS server of the test.
import { startFakeDns, type FakeDns, type Zone } from "../fakes/dns.ts";
import { startFakeWeb, type FakeWeb } from "../fakes/web.ts";
import { dispose, invoke, startGateway, type TestGateway } from "./gateway.ts";

export interface WebGround {
  readonly gateway: TestGateway;
  readonly web: FakeWeb;
  readonly dns: FakeDns;
  /** URL of a path on the test server, under the name that the owner allowed. */
  at(path: string): string;
  /** `body`: further fields of the request, such as sessionKey. */
  call(tool: string, args: object, body?: object): Promise<WebAnswer>;
  fetch(path: string, args?: object): Promise<WebAnswer>;
  close(): Promise<void>;
}

export interface WebAnswer {
  readonly ok: boolean;
  readonly text: string;
  readonly details: Record<string, unknown>;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
}

export interface WebPlan {
  readonly fetch?: object;
  readonly search?: (web: FakeWeb) => object;
  /** Further keys below `tools`. */
  readonly tools?: object;
  readonly env?: Record<string, string>;
  readonly zone?: Zone;
  /** Further keys of the config. */
  readonly config?: object;
}

/** `pages.test` is the test server and allowed; other names come from `zone` and are not. */
export async function startWebGround(plan: WebPlan = {}): Promise<WebGround> {
  const web = await startFakeWeb();
  const dns = await startFakeDns({ "pages.test": ["127.0.0.1"], ...plan.zone });
  const gateway = await startGateway({
    config: {
      ...plan.config,
      tools: {
        ...plan.tools,
        web: { allowPrivateHosts: ["pages.test"], fetch: plan.fetch ?? {}, search: plan.search?.(web) ?? {} },
      },
    },
    env: { OPENCLAW_DNS_SERVER: dns.address, ...plan.env },
  });
  const call = async (tool: string, args: object, body: object = {}): Promise<WebAnswer> => {
    const answer = await invoke(gateway, tool, args, { body });
    const { ok, result, error } = answer.body as Wire;
    return {
      ok,
      text: result?.content.map(({ text }) => text).join("\n") ?? "",
      details: result?.details ?? {},
      ...(error === undefined
        ? {}
        : { error: { code: error.details?.code ?? error.type, message: error.message, hint: JSON.stringify(error) } }),
    };
  };
  const at = (path: string): string => `http://pages.test:${web.port}${path}`;
  return {
    gateway,
    web,
    dns,
    at,
    call,
    fetch: (path, args = {}) => call("web_fetch", { url: at(path), ...args }),
    async close() {
      await dispose(gateway);
      await Promise.all([web.close(), dns.close()]);
    },
  };
}

interface Wire {
  readonly ok: boolean;
  readonly result?: { readonly content: { readonly text: string }[]; readonly details: Record<string, unknown> };
  readonly error?: { readonly type: string; readonly message: string; readonly details?: { readonly code?: string } };
}
