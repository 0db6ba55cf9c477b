// What a tool or prompt can do with the client that called it: log, report progress, ask. One interface for both ways of asking.
import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { checker, type TSchema } from "../../core/schema.ts";
import type { CallClient, ClientAnswer, ClientQuestion, ToolResult } from "../../tool/tool.ts";
import { META, type RpcRequest } from "../message.ts";
import type { Exchange } from "./exchange.ts";
import { isAtLeast, parseLogLevel } from "./log-level.ts";

export interface ClientLink extends CallClient {
  /** The questions are withdrawn when the signal aborts, by default that of the request. */
  ask(
    questions: Readonly<Record<string, ClientQuestion>>,
    signal?: AbortSignal,
  ): Promise<Readonly<Record<string, ClientAnswer>>>;
  progress(partial: ToolResult): void;
  /** What the client must still answer before the request can go on. */
  readonly asked: Readonly<Record<string, ClientQuestion>> | undefined;
  /** What the client would have to be able to do, when it cannot. */
  readonly lacking: Readonly<Record<string, object>> | undefined;
}

export interface LinkOptions {
  readonly request: RpcRequest;
  readonly exchange: Exchange;
  /** Answers that came with the request, of this round and earlier ones. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly allowsSampling: boolean;
  /** Removes secrets from what is sent. */
  readonly redact: (value: object) => object;
}

type Method = ClientQuestion["method"];

const capabilityOf = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
} as const satisfies Record<Method, string>;

export function createClientLink({ request, exchange, answers, allowsSampling, redact }: LinkOptions): ClientLink {
  const { session } = exchange;
  const meta = isRecord(request.params["_meta"]) ? request.params["_meta"] : {};
  const isStateless = request.revision !== undefined;
  const stated = meta[`${META}clientCapabilities`];
  const capabilities = isStateless ? (isRecord(stated) ? stated : {}) : (session?.capabilities ?? {});
  const token = meta["progressToken"];
  const logLevel = isStateless ? parseLogLevel(meta[`${META}logLevel`]) : session?.logLevel;
  let asked: Record<string, ClientQuestion> | undefined;
  let lacking: Record<string, object> | undefined;
  let reported = -Infinity;
  let partials = 0;

  const isAble = (method: Method): boolean =>
    isRecord(capabilities[capabilityOf[method]]) && (isStateless || (session !== undefined && exchange.canSend));
  const isAllowed = (method: Method): boolean => method !== "sampling/createMessage" || allowsSampling;
  const report = (done: number, total?: number, message?: string): void => {
    // Progress must grow; what does not is left out.
    if ((typeof token !== "string" && typeof token !== "number") || !(done > reported)) return;
    reported = done;
    const facts = { progress: done, ...(total === undefined ? {} : { total }), ...(message ? { message } : {}) };
    if (exchange.canSend) exchange.send(notice("notifications/progress", { progressToken: token, ...redact(facts) }));
  };

  return {
    get asked() {
      return asked;
    },
    get lacking() {
      return lacking;
    },
    can: (method) => isAble(method) && isAllowed(method),
    async ask(questions, signal = exchange.signal) {
      for (const { method } of Object.values(questions)) {
        if (!isAble(method)) {
          lacking = { ...lacking, [capabilityOf[method]]: {} };
          throw cannotAnswer(method);
        }
        if (!isAllowed(method)) throw samplingOff();
      }
      if (!isStateless) return askInSession(exchange, questions, redact, signal);
      const missing = Object.entries(questions).filter(([key, question]) => !isAnswer(answers[key], question));
      if (missing.length === 0)
        return Object.fromEntries(Object.keys(questions).map((key) => [key, answers[key] as ClientAnswer]));
      asked = Object.fromEntries(missing);
      throw new ToolError("client.asked", "the client was asked and has not answered yet", {
        hint: "repeat the call with inputResponses",
      });
    },
    log(level, text) {
      if (logLevel === undefined || !exchange.canSend || !isAtLeast(level, logLevel)) return;
      exchange.send(notice("notifications/message", redact({ level, logger: "openclaw", data: text })));
    },
    report,
    progress(partial) {
      const text = partial.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      report(++partials, undefined, text.trim().split("\n").at(-1)?.slice(0, 200));
    },
  };
}

async function askInSession(
  exchange: Exchange,
  questions: Readonly<Record<string, ClientQuestion>>,
  redact: LinkOptions["redact"],
  signal: AbortSignal,
): Promise<Record<string, ClientAnswer>> {
  const { session } = exchange;
  const asking = Object.entries(questions).map(async ([key, question]): Promise<[string, ClientAnswer]> => {
    if (session === undefined) throw cannotAnswer(question.method);
    const { result, error } = await session.ask(exchange.send, question.method, redact(question.params), signal);
    if (isAnswer(result, question)) return [key, result];
    throw new ToolError("client.bad-answer", `the client did not answer ${question.method}: ${error ?? "bad answer"}`);
  });
  return Object.fromEntries(await Promise.all(asking));
}

/** Checked as far as the protocol defines it; the fields of a form by the schema that was sent with it. */
export function isAnswer(value: unknown, { method, params }: ClientQuestion): value is ClientAnswer {
  if (!isRecord(value)) return false;
  if (method === "roots/list") return Array.isArray(value["roots"]);
  if (method === "sampling/createMessage") return value["role"] !== undefined && value["content"] !== undefined;
  const { action, content } = value;
  if (action === "decline" || action === "cancel") return true;
  if (action !== "accept") return false;
  const schema = params["requestedSchema"];
  return !isRecord(schema) || (isRecord(content) && checker(schema as TSchema).is(content));
}

function notice(method: string, params: object): object {
  return { jsonrpc: "2.0", method, params };
}

function cannotAnswer(method: Method): ToolError {
  return new ToolError("client.cannot-answer", `this needs a client that can answer ${method}`, {
    hint: `use a client with the capability "${capabilityOf[method]}", and let it accept text/event-stream`,
  });
}

function samplingOff(): ToolError {
  return new ToolError("client.sampling-off", "tools may not send prompts to the client's model", {
    hint: "openclaw config set gateway.http.endpoints.mcp.sampling true",
  });
}
