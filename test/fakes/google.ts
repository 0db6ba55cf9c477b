// A stand-in for Google's generateContent on loopback: streamed candidates, thoughts with signatures, calls whole.
import { isRecord } from "./openai-request.ts";
import { pieces, type Finish, type Part, type Reply } from "./reply.ts";
import {
  eventStream,
  json,
  nextReply,
  startFakeServer,
  type FakeServer,
  type Performance,
  type Script,
  type Tls,
} from "./server.ts";
import { createPrefixCache, tokensIn, type Counted } from "./usage.ts";

export async function startFakeGoogle(
  script: Script,
  { key, tls }: { readonly key?: string; readonly tls?: Tls } = {},
): Promise<FakeServer> {
  const count = createPrefixCache();
  let index = -1;
  return startFakeServer(
    async (request) => {
      if (!/^\/v1beta\/models\/[^/:]+:(streamGenerateContent\?alt=sse|generateContent)$/.test(request.path))
        return json(404, problem(404, "NOT_FOUND", `${request.path} is not found`));
      const given = request.headers["x-goog-api-key"];
      if (given === undefined || (key !== undefined && given !== key))
        return json(400, problem(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."));
      index += 1;
      const wrong = checkContents(request.body["contents"]) ?? checkCalling(request.body);
      if (wrong !== undefined) return json(400, problem(400, "INVALID_ARGUMENT", wrong));
      const reply = await nextReply(script, request, index);
      return perform(reply, count(JSON.stringify([request.body["systemInstruction"], request.body["contents"]])));
    },
    { prefix: "/v1beta", tls },
  );
}

function perform(reply: Reply, counted: Counted): Performance | "hang" | "drop" {
  if (reply.kind === "fail") {
    const status = reply.status === 429 ? "RESOURCE_EXHAUSTED" : "UNAVAILABLE";
    return json(reply.status, reply.body ?? problem(reply.status, status, `status ${reply.status}`), reply.headers);
  }
  if (reply.kind === "hang") return reply.when === "before" ? "hang" : stream([], "stay");
  if (reply.kind === "drop" && reply.when === "before") return "drop";
  if (reply.kind === "drip") return { ...stream([chunk([{ text: "." }])], "repeat"), delayMs: reply.everyMs };
  if (reply.kind === "garbage") return stream(["data: {this is not json\n\n", "data: \u0000\u0001\n\n"], "end");
  if (reply.kind === "drop") return stream([chunk([{ text: "half an ans" }])], "cut");
  if (reply.kind === "late-fail") {
    const said = reply.text === "" ? [] : [chunk([{ text: reply.text }])];
    return stream([...said, `data: ${JSON.stringify(problem(503, "UNAVAILABLE", reply.message))}\n\n`], "end");
  }
  // Calls come whole here: a half one is an answer the service itself gives up on, or half a frame on the line.
  if (reply.kind === "half-call") {
    const torn = `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ functionCall: { name: reply.name } }] } }] }).slice(0, 60)}`;
    return reply.ends === "cut"
      ? stream([torn], "cut")
      : stream([chunk([], "MALFORMED_FUNCTION_CALL", counted)], "end");
  }
  const parts = reply.kind === "answer" ? reply.parts : [];
  const finish: Finish = reply.kind === "answer" ? reply.finish : "stop";
  const said = tokensIn(parts.map((part) => (part.type === "call" ? part.arguments : part.text)).join(""));
  const word = { stop: "STOP", tool: "STOP", length: "MAX_TOKENS", refusal: "SAFETY" }[finish];
  const thought = parts.find((part) => part.type === "thinking");
  const frames = parts.flatMap((part) => framesOf(part, thought !== undefined));
  return {
    ...stream([...frames, chunk([], word, counted, said)], "end"),
    ...(reply.kind === "answer" ? { delayMs: reply.delayMs } : {}),
    ...(reply.kind === "answer" && reply.shredBytes !== undefined ? { shredBytes: reply.shredBytes } : {}),
  };
}

function framesOf(part: Part, isSigned: boolean): string[] {
  if (part.type === "thinking") return pieces(part.text, 2).map((text) => chunk([{ text, thought: true }]));
  if (part.type === "text") return pieces(part.text, part.chunks).map((text) => chunk([{ text }]));
  const seal = isSigned ? { thoughtSignature: `sealed-${part.id}` } : {};
  return [
    chunk([{ functionCall: { id: part.id, name: part.name, args: JSON.parse(part.arguments) as unknown }, ...seal }]),
  ];
}

function chunk(parts: readonly object[], finish?: string, counted?: Counted, said = 0): string {
  const candidate = {
    content: { role: "model", parts },
    index: 0,
    ...(finish === undefined ? {} : { finishReason: finish }),
  };
  const usage =
    counted === undefined
      ? {}
      : {
          usageMetadata: {
            promptTokenCount: counted.input,
            cachedContentTokenCount: counted.cached,
            candidatesTokenCount: said,
            totalTokenCount: counted.input + said,
          },
        };
  return `data: ${JSON.stringify({ candidates: [candidate], ...usage, modelVersion: "stand-in", responseId: "resp-stand-in" })}\n\n`;
}

function checkCalling({ toolConfig, tools }: Readonly<Record<string, unknown>>): string | undefined {
  const calling = isRecord(toolConfig) ? toolConfig["functionCallingConfig"] : undefined;
  if (!isRecord(calling)) return undefined;
  const { mode, allowedFunctionNames: names } = calling;
  if (!["AUTO", "ANY", "NONE", "VALIDATED"].includes(String(mode)))
    return `Invalid function calling mode: ${String(mode)}`;
  if (!Array.isArray(names)) return undefined;
  if (mode !== "ANY") return "allowed_function_names should only be set when mode is ANY";
  return names.every((name) => JSON.stringify(tools).includes(JSON.stringify(name)))
    ? undefined
    : "allowed_function_names names a function that is not declared";
}

/** Roles, non-empty parts, and for every turn of calls a turn of as many responses right after it. */
function checkContents(contents: unknown): string | undefined {
  if (!Array.isArray(contents) || contents.length === 0) return "contents is not specified";
  let waiting: string[] = [];
  for (const [at, turn] of (contents as unknown[]).entries()) {
    if (!isRecord(turn)) return `contents[${at}] is not an object`;
    if (turn["role"] !== "user" && turn["role"] !== "model") return `Please use a valid role: user, model.`;
    if (at === 0 && turn["role"] !== "user") return "the first content should be with role 'user'";
    const parts = Array.isArray(turn["parts"]) ? (turn["parts"] as unknown[]).filter((part) => isRecord(part)) : [];
    if (parts.length === 0) return `contents[${at}].parts must not be empty.`;
    const answers = parts.flatMap((part) =>
      isRecord(part["functionResponse"]) ? [String(part["functionResponse"]["name"])] : [],
    );
    if (answers.join() !== waiting.join())
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    waiting = parts.flatMap((part) => (isRecord(part["functionCall"]) ? [String(part["functionCall"]["name"])] : []));
    if (waiting.length > 0 && turn["role"] !== "model") return "function call parts must come from the model";
  }
  return waiting.length === 0 ? undefined : "function call turn has no function response turn after it";
}

function problem(code: number, status: string, message: string): unknown {
  return { error: { code, message, status } };
}

function stream(frames: readonly string[], after: Performance["after"]): Performance {
  return { status: 200, headers: eventStream, frames, after };
}
