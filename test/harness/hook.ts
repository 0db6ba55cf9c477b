// A gateway that takes webhooks, with a scripted model, and one request to it.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { say, startFakeOpenAI, type FakeRequest, type FakeServer, type Reply } from "../fakes/openai.ts";
import { dispose, operator, type GatewayPlan, type TestGateway, type Wire } from "./gateway.ts";
import { startWithModel } from "./model.ts";

export const HOOK_TOKEN = "hook-token-9f8e7d6c5b4a";

interface Message {
  readonly role: string;
  readonly content: unknown;
}

export interface HookGateway {
  readonly server: FakeServer;
  gateway: TestGateway;
  wire: Wire;
  /** What the model says to the last message of a request. */
  script: (text: string) => Reply;
  /** The last message of every model request so far. */
  received(): string[];
  close(): Promise<void>;
}

export async function openHookGateway(
  hooks: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
  plan: GatewayPlan = {},
): Promise<HookGateway> {
  const server = await startFakeOpenAI((request) => runtime.script(lastOf(request)));
  const gateway = await startWithModel(server, {
    ...plan,
    more: { hooks: { enabled: true, token: HOOK_TOKEN, ...hooks }, ...more },
  });
  const runtime: HookGateway = {
    server,
    gateway,
    wire: await operator(gateway),
    script: () => say("done"),
    received: () => server.requests.flatMap((request) => (request.path.endsWith("/models") ? [] : [lastOf(request)])),
    async close() {
      runtime.wire.end();
      await dispose(runtime.gateway);
      await server.close();
    },
  };
  return runtime;
}

function lastOf({ body }: FakeRequest): string {
  const { messages = [] } = body as { messages?: Message[] };
  const { content } = messages.at(-1) ?? { content: "" };
  if (!Array.isArray(content)) return String(content);
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

export interface Posted {
  readonly status: number;
  readonly type: string;
  readonly body: Record<string, unknown>;
  readonly text: string;
  readonly headers: Headers;
}

export async function hook(
  gateway: TestGateway,
  path: string,
  body: unknown,
  headers: Record<string, string | undefined> = {},
  method = "POST",
): Promise<Posted> {
  const all = { authorization: `Bearer ${HOOK_TOKEN}`, "content-type": "application/json", ...headers };
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const response = await fetch(`${gateway.url}/hooks${path}`, {
    method,
    headers: Object.fromEntries(given),
    ...(method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  const isJson = type.startsWith("application/json");
  return {
    status: response.status,
    type: type.split(";")[0] ?? "",
    body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    text,
    headers: response.headers,
  };
}

/** A private script below `folder`. */
export function writeScript(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
  chmodSync(dirname(file), 0o700);
  return file;
}
