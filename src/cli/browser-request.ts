// What the `openclaw browser` commands share: options, the request to the gateway, and how an answer is printed.
import type { ControlRequest } from "../browser/control.ts";
import { withGateway } from "./client.ts";
import { UsageError, type Argument, type Command, type Example, type Invocation, type Options } from "./command.ts";
import type { Io } from "./io.ts";
import { wholeNumber } from "./parse.ts";
import { safe, toJson } from "./print.ts";
import { requireConfigUnless } from "./settings.ts";
import { targetOf, wireOptions } from "./target.ts";

/** Also accepted between `browser` and the command. */
export const browserOptions = {
  "browser-profile": {
    type: "string",
    value: "name",
    description: "Browser profile to use (default: browser.defaultProfile).",
  },
  ...wireOptions,
  timeout: { type: "string", value: "ms", description: "How long to wait for a response (default: 30000)." },
  "expect-final": { type: "boolean", description: "Accepted for older scripts; has no effect." },
} as const satisfies Options;

export const tabOption = {
  "target-id": { type: "string", value: "id", description: "Tab to use (default: the one that was used last)." },
} as const satisfies Options;

export type Answer = Readonly<Record<string, unknown>>;

export interface BrowserClient {
  readonly io: Io;
  /** True when files of the gateway are files of this machine. */
  readonly isLocal: boolean;
  get(path: string, query?: object): Promise<Answer>;
  /** `ms` is how long the request itself may wait, where it waits for something. */
  post(path: string, body?: object, ms?: number): Promise<Answer>;
  remove(path: string): Promise<Answer>;
}

export interface BrowserCommand<O extends Options> {
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: O;
  readonly examples: readonly Example[];
  readonly request: (client: BrowserClient, given: Invocation<O>) => Promise<Answer>;
  /** The answer for people; --json prints it as it is. */
  readonly text: (answer: Answer, given: Invocation<O>, io: Io) => string;
}

const DEFAULT_MS = 30_000;
const MAX_MS = 600_000;
/** The gateway's own error says more than ours, so it gets the time to answer. */
const GRACE_MS = 5_000;

export function browserCommand<const O extends Options = Record<never, never>>(shape: BrowserCommand<O>): Command {
  const { request, text, options, ...rest } = shape;
  return {
    ...rest,
    options: { ...browserOptions, ...options },
    async run(io, given) {
      // `wait --url` and `cookies set --url` name a page, not the gateway.
      const shared = Object.entries(given.options).filter(([name]) => !Object.hasOwn(options ?? {}, name));
      const answer = await withClient(io, Object.fromEntries(shared), (client) =>
        request(client, given as Invocation<O>),
      );
      io.print(io.json ? toJson(answer) : safe(text(answer, given as Invocation<O>, io)));
      return 0;
    },
  };
}

async function withClient<T>(
  io: Io,
  flags: Invocation<typeof browserOptions>["options"],
  work: (client: BrowserClient) => Promise<T>,
): Promise<T> {
  await requireConfigUnless(flags.url !== undefined, io);
  const target = await targetOf(io, flags);
  const givenMs = wholeNumber("timeout", flags.timeout, { min: 1, max: MAX_MS }) ?? DEFAULT_MS;
  const profile = flags["browser-profile"];
  return withGateway(io, target, (gateway) => {
    const send = (request: Omit<ControlRequest, "timeoutMs">, ms = 0): Promise<Answer> => {
      const timeoutMs = Math.max(givenMs, ms);
      const query = { ...request.query, ...(profile === undefined ? {} : { profile }) };
      const params = { ...request, ...(Object.keys(query).length === 0 ? {} : { query }), timeoutMs };
      return gateway.call("browser.request", params, { timeoutMs: timeoutMs + GRACE_MS });
    };
    return work({
      io,
      isLocal: target.isLocal,
      get: (path, query) => send({ method: "GET", path, query: query === undefined ? undefined : given(query) }),
      post: (path, body, ms) => send({ method: "POST", path, body: body === undefined ? undefined : given(body) }, ms),
      remove: (path) => send({ method: "DELETE", path }),
    });
  });
}

/** Without the fields that the command line did not give. */
function given(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function milliseconds(name: string, text: string | undefined): number | undefined {
  return wholeNumber(name, text, { min: 1, max: MAX_MS });
}

export function amount(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new UsageError(`<${name}> must be a number, not ${JSON.stringify(text)}`);
}

export function listOf(answer: Answer, name: string): readonly Record<string, unknown>[] {
  const value = answer[name];
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
}

/** A field as text; "" when it is absent. */
export function textOf(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name] ?? "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
