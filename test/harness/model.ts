// A gateway with a model: the config that points it at a stand-in server on loopback, a script for it, one turn awaited.
import { mkdirSync } from "node:fs";

import { say, startFakeOpenAI, type FakeRequest, type FakeServer, type Reply } from "../fakes/openai.ts";
import {
  dispose,
  operator,
  startGateway,
  type Frame,
  type GatewayPlan,
  type TestGateway,
  type Wire,
} from "./gateway.ts";

export function modelConfig(server: FakeServer, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    models: {
      providers: {
        fake: {
          baseUrl: server.url,
          apiKey: "sk-fake-0123456789abcdef",
          api: "openai-completions",
          models: [
            {
              id: "fake-1",
              name: "Fake One",
              reasoning: false,
              input: ["text", "image"],
              cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
              contextWindow: 200_000,
              maxTokens: 8192,
            },
          ],
        },
      },
    },
    agents: { defaults: { model: { primary: "fake/fake-1" } } },
    gateway: { http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } } },
    ...more,
  };
}

export function startWithModel(
  server: FakeServer,
  plan: GatewayPlan & { more?: Record<string, unknown> } = {},
): Promise<TestGateway> {
  return startGateway({ ...plan, config: modelConfig(server, plan.more) });
}

/** One message of a request to the model. */
export interface ModelMessage {
  readonly role: string;
  readonly content: unknown;
}

export interface ScriptedGateway {
  readonly server: FakeServer;
  readonly gateway: TestGateway;
  readonly wire: Wire;
  /** What the model says to the last message of a request; "hello" until a test sets it. */
  script: (last: ModelMessage, request: FakeRequest) => Reply;
  close(): Promise<void>;
}

/** A gateway whose model answers by script, with a workspace and an operator on its socket. */
export async function openScripted(more: Record<string, unknown> = {}): Promise<ScriptedGateway> {
  const server = await startFakeOpenAI((request) =>
    runtime.script(messagesOf(request).at(-1) ?? { role: "none", content: "" }, request),
  );
  const gateway = await startWithModel(server, { more });
  const runtime: ScriptedGateway = {
    server,
    gateway,
    wire: await operator(gateway),
    script: () => say("hello"),
    async close() {
      runtime.wire.end();
      await dispose(gateway);
      await server.close();
    },
  };
  mkdirSync(gateway.workspace, { recursive: true });
  return runtime;
}

export const messagesOf = ({ body }: FakeRequest): ModelMessage[] => (body as { messages: ModelMessage[] }).messages;
export const toolsOf = ({ body }: FakeRequest): string[] =>
  ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map(({ function: f }) => f.name);

export interface ChatEnd {
  readonly state: string;
  readonly errorMessage?: string;
  readonly message?: { readonly content: { readonly text: string }[] };
}

/** Sends and waits for the end of the run on the same socket. */
export async function chat(wire: Wire, sessionKey: string, message: string, runId: string): Promise<ChatEnd> {
  const sent = await wire.request("chat.send", { sessionKey, message, idempotencyKey: runId });
  if (sent.ok !== true) throw new Error(`chat.send refused: ${JSON.stringify(sent.error)}`);
  return chatEnd(wire, runId);
}

export async function chatEnd(wire: Wire, runId: string, timeoutMs = 60_000): Promise<ChatEnd> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const end = wire.frames
      .map(payloadOf)
      .find((payload) => payload?.runId === runId && payload.state !== undefined && payload.state !== "delta");
    if (end !== undefined) return end as ChatEnd;
    if (Date.now() > until) throw new Error(`run ${runId} did not end within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function payloadOf(frame: Frame): { runId?: string; state?: string } | undefined {
  return frame.event === "chat" ? (frame.payload as { runId?: string; state?: string }) : undefined;
}

export const textOf = (end: ChatEnd): string => end.message?.content.map(({ text }) => text).join("") ?? "";
