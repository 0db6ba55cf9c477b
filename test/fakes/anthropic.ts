// A stand-in for Anthropic's Messages API on loopback: typed events, thinking with signatures, prompt caching.
import { checkMessagesRequest, signatureOf } from "./anthropic-request.ts";
import { pieces, type Part, type Reply } from "./reply.ts";
import {
  eventStream,
  json,
  nextReply,
  startFakeServer,
  type FakeRequest,
  type FakeServer,
  type Performance,
  type Script,
  type Tls,
} from "./server.ts";
import { createPrefixCache, tokensIn, type Counted } from "./usage.ts";

export async function startFakeAnthropic(
  script: Script,
  { key, tls }: { readonly key?: string; readonly tls?: Tls } = {},
): Promise<FakeServer> {
  const count = createPrefixCache();
  let index = -1;
  return startFakeServer(
    async (request) => {
      if (request.path !== "/v1/messages") return json(404, problem("not_found_error", `${request.path} is not here`));
      const given = request.headers["x-api-key"] ?? request.headers["authorization"]?.replace(/^Bearer /, "");
      if (given === undefined || (key !== undefined && given !== key))
        return json(401, problem("authentication_error", "invalid x-api-key"));
      index += 1;
      const wrong = checkMessagesRequest(request.body);
      if (wrong !== undefined) return json(400, problem("invalid_request_error", wrong));
      const counted = usesCache(request.body)
        ? count(promptOf(request))
        : { input: tokensIn(promptOf(request)), cached: 0 };
      return perform(await nextReply(script, request, index), request, counted);
    },
    { prefix: "/v1", tls },
  );
}

function perform(reply: Reply, request: FakeRequest, counted: Counted): Performance | "hang" | "drop" {
  if (reply.kind === "fail") {
    const type = reply.status === 529 ? "overloaded_error" : reply.status === 429 ? "rate_limit_error" : "api_error";
    return json(reply.status, reply.body ?? problem(type, `status ${reply.status}`), reply.headers);
  }
  if (reply.kind === "hang") return reply.when === "before" ? "hang" : stream([], "stay");
  if (reply.kind === "drop" && reply.when === "before") return "drop";
  const start = event("message_start", { message: message(request, counted) });
  const ping = event("ping", {});
  if (reply.kind === "drip") {
    const [open = "", delta = ""] = blockFrames({ type: "text", text: ".", chunks: 1 }, 0);
    // A block that never ends; only the deltas count, opening it again would be no valid stream.
    return { ...stream([start, open, ...Array.from({ length: 1000 }, () => delta)], "stay"), delayMs: reply.everyMs };
  }
  if (reply.kind === "garbage")
    return stream([start, "event: content_block_start\ndata: {this is not json\n\n"], "end");
  const half = blockFrames({ type: "text", text: "half an ans", chunks: 1 }, 0).slice(0, 2);
  if (reply.kind === "drop") return stream([start, ping, ...half], "cut");
  if (reply.kind === "late-fail") {
    const said = reply.text === "" ? [] : blockFrames({ type: "text", text: reply.text, chunks: 1 }, 0);
    return stream([start, ...said, event("error", { error: { type: reply.type, message: reply.message } })], "end");
  }
  if (reply.kind === "half-call") {
    const frames = blockFrames({ type: "call", id: "toolu_half", name: reply.name, arguments: reply.text }, 0);
    if (reply.ends === "cut") return stream([start, ...frames.slice(0, -1)], "cut");
    return stream([start, ...frames, ...ending("max_tokens", reply.text)], "end");
  }
  const parts = reply.kind === "answer" ? reply.parts : [];
  const blocks = parts.flatMap((part, index) => blockFrames(part, index));
  const said = parts.map((part) => (part.type === "call" ? part.arguments : part.text)).join("");
  const stop = { stop: "end_turn", tool: "tool_use", length: "max_tokens", refusal: "refusal" }[
    reply.kind === "answer" ? reply.finish : "stop"
  ];
  return {
    ...stream([start, ping, ...blocks, ...ending(stop, said)], "end"),
    ...(reply.kind === "answer" ? { delayMs: reply.delayMs } : {}),
    ...(reply.kind === "answer" && reply.shredBytes !== undefined ? { shredBytes: reply.shredBytes } : {}),
  };
}

function blockFrames(part: Part, index: number): string[] {
  const start = (block: object): string => event("content_block_start", { index, content_block: block });
  const delta = (change: object): string => event("content_block_delta", { index, delta: change });
  const stop = event("content_block_stop", { index });
  if (part.type === "text") {
    const deltas = pieces(part.text, part.chunks).map((text) => delta({ type: "text_delta", text }));
    return [start({ type: "text", text: "" }), ...deltas, stop];
  }
  if (part.type === "thinking") {
    const deltas = pieces(part.text, 2).map((thinking) => delta({ type: "thinking_delta", thinking }));
    const seal = delta({ type: "signature_delta", signature: signatureOf(part.text) });
    return [start({ type: "thinking", thinking: "", signature: "" }), ...deltas, seal, stop];
  }
  const deltas = ["", ...pieces(part.arguments, 3)].map((text) =>
    delta({ type: "input_json_delta", partial_json: text }),
  );
  return [start({ type: "tool_use", id: part.id, name: part.name, input: {} }), ...deltas, stop];
}

function ending(stop: string, said: string): string[] {
  const change = { stop_reason: stop, stop_sequence: null };
  return [
    event("message_delta", { delta: change, usage: { output_tokens: tokensIn(said) } }),
    event("message_stop", {}),
  ];
}

function message(request: FakeRequest, { input, cached }: Counted): object {
  const usage = {
    input_tokens: usesCache(request.body) ? 1 : input,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: usesCache(request.body) ? input - cached : 0,
    output_tokens: 1,
  };
  const head = { id: "msg_stand_in", type: "message", role: "assistant", model: request.body["model"], content: [] };
  return { ...head, stop_reason: null, stop_sequence: null, usage };
}

/** Nothing is cached that was not marked. */
function usesCache(body: Readonly<Record<string, unknown>>): boolean {
  return JSON.stringify(body).includes('"cache_control"');
}

function promptOf({ body }: FakeRequest): string {
  return JSON.stringify([body["tools"], body["system"], body["messages"]]).replaceAll(
    ',"cache_control":{"type":"ephemeral"}',
    "",
  );
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function problem(type: string, text: string): unknown {
  return { type: "error", error: { type, message: text }, request_id: "req_stand_in" };
}

function stream(frames: readonly string[], after: Performance["after"]): Performance {
  return { status: 200, headers: eventStream, frames, after };
}
