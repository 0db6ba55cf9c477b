// The cheapest model there is: answers at once, notes when each request's headers came. In-process, so that clocks agree.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Arrival {
  readonly at: number;
  readonly bytes: number;
  readonly body: { readonly messages: readonly { readonly role: string }[] };
}

export interface BenchModel {
  readonly url: string;
  readonly arrivals: Arrival[];
  /** When the last byte of an answer was written. */
  readonly answeredAt: number[];
  /** The frames of the next answers. */
  answer: (arrival: Arrival) => string[];
  /** Milliseconds between two frames of an answer; 0 writes them at once. */
  paceMs: number;
  close(): void;
}

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const end = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "bench", choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\ndata: [DONE]\n\n`;

export const plainAnswer = (text = "ok"): string[] => [
  chunk({ role: "assistant", content: text }),
  chunk({}, "stop") + end,
];
export const deltas = (count: number, word: string): string[] => [
  ...Array.from({ length: count }, () => chunk({ content: word })),
  chunk({}, "stop") + end,
];
export const toolAnswer = (name: string, args: object): string[] => [
  chunk({
    role: "assistant",
    content: null,
    tool_calls: [
      {
        index: 0,
        id: `call_${Math.random().toString(36).slice(2, 10)}`,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      },
    ],
  }),
  chunk({}, "tool_calls") + end,
];

export async function startBenchModel(): Promise<BenchModel> {
  const arrivals: Arrival[] = [];
  const answeredAt: number[] = [];
  const model = {
    url: "",
    arrivals,
    answeredAt,
    answer: () => plainAnswer(),
    paceMs: 0,
    close: () => server.close(),
  } as BenchModel & { url: string };
  const server: Server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (piece: Buffer) => chunks.push(piece));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      if (request.method === "GET")
        return void response.end(JSON.stringify({ object: "list", data: [{ id: "bench", object: "model" }] }));
      const arrival = { at, bytes: bytes.length, body: JSON.parse(bytes.toString("utf8")) as Arrival["body"] };
      arrivals.push(arrival);
      response.writeHead(200, { "content-type": "text/event-stream" });
      void writeFrames(response, model.answer(arrival), model.paceMs).then(() =>
        response.end(() => answeredAt.push(performance.now())),
      );
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return model;
}

async function writeFrames(response: ServerResponse, frames: readonly string[], paceMs: number): Promise<void> {
  for (const frame of frames) {
    if (response.destroyed) return;
    response.write(frame);
    if (paceMs > 0) await sleep(paceMs);
  }
}

export function benchConfig(url: string): Record<string, unknown> {
  return {
    models: {
      providers: {
        bench: {
          baseUrl: url,
          apiKey: "sk-bench-0123456789",
          api: "openai-completions",
          models: [{ id: "bench", name: "Bench", contextWindow: 2_000_000, maxTokens: 4096 }],
        },
      },
    },
    agents: { defaults: { model: { primary: "bench/bench" } } },
  };
}
