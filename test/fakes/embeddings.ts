// Stand-ins for embedding services on loopback: requests are checked as published, vectors say which words a text has.
import { isRecord } from "./openai-request.ts";
import { json, startFakeServer, type FakeRequest, type FakeServer, type Performance } from "./server.ts";

export interface FakeEmbeddingsOptions {
  /** When given, any other key is refused. */
  readonly key?: string;
  /** Words that mean the same: `{automobile: "car"}`. */
  readonly synonyms?: Readonly<Record<string, string>>;
  readonly dimensions?: number;
  /** Plays something else in place of the answer. */
  readonly instead?: (request: FakeRequest, index: number) => Instead | Promise<Instead>;
  readonly port?: number;
}

type Instead = Performance | "hang" | "drop" | undefined;

export type Vendor = "openai" | "gemini" | "voyage" | "ollama";

interface Dialect {
  readonly prefix: string;
  isCall(path: string): boolean;
  keyIn(request: FakeRequest): string | undefined;
  /** What is wrong, or the texts. */
  texts(request: FakeRequest): string | readonly string[];
  problem(status: number, message: string): unknown;
  answer(vectors: readonly number[][], request: FakeRequest): unknown;
}

export function startFakeEmbeddings(
  vendor: Vendor,
  { key, synonyms = {}, dimensions = 64, instead, port }: FakeEmbeddingsOptions = {},
): Promise<FakeServer> {
  const dialect = dialects[vendor];
  let index = -1;
  return startFakeServer(
    async (request) => {
      if (request.method !== "POST" || !dialect.isCall(request.path))
        return json(404, dialect.problem(404, "not found"));
      index += 1;
      const other = await instead?.(request, index);
      if (other !== undefined) return other;
      if (key !== undefined && dialect.keyIn(request) !== key)
        return json(401, dialect.problem(401, "invalid api key"));
      const texts = dialect.texts(request);
      if (typeof texts === "string") return json(400, dialect.problem(400, texts));
      const vectors = texts.map((text) => vectorOf(text, dimensions, synonyms));
      return json(200, dialect.answer(vectors, request));
    },
    { prefix: dialect.prefix, port },
  );
}

/** A bag of words: texts that share words, or words that mean the same, lie near each other. */
export function vectorOf(text: string, dimensions: number, synonyms: Readonly<Record<string, string>>): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of text.toLowerCase().match(/\p{L}{3,}/gu) ?? []) {
    if (everyday.has(word)) continue;
    const root = synonyms[word] ?? word.replace(/(?:ing|ed|es|s)$/, "");
    const meant = synonyms[root] ?? root;
    const at = Array.from(meant).reduce((sum, entry) => (sum * 31 + (entry.codePointAt(0) ?? 0)) % 1_000_003, 7);
    vector[at % dimensions] = (vector[at % dimensions] ?? 0) + 1;
  }
  return vector;
}

const everyday = new Set(
  "the and for with who will what where which that this search query document is are was".split(" "),
);

const bearerOf = ({ headers }: FakeRequest): string | undefined => headers["authorization"]?.replace(/^Bearer /, "");
const openAIProblem = (_status: number, message: string): unknown => ({
  error: { message, type: "invalid_request_error", param: null, code: null },
});
const list = (vectors: readonly number[][], { body }: FakeRequest): unknown => ({
  object: "list",
  // Any order is allowed; the index says which is which.
  data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })).toReversed(),
  model: body["model"],
  usage: { prompt_tokens: vectors.length, total_tokens: vectors.length },
});

const dialects: Readonly<Record<Vendor, Dialect>> = {
  openai: {
    prefix: "/v1",
    isCall: (path) => path === "/v1/embeddings",
    keyIn: bearerOf,
    texts: ({ body }) =>
      unknownKey(body, ["model", "input", "encoding_format", "dimensions", "user"]) ??
      missingModel(body) ??
      inputOf(
        body,
        2048,
        "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.",
      ),
    problem: openAIProblem,
    answer: list,
  },
  voyage: {
    prefix: "/v1",
    isCall: (path) => path === "/v1/embeddings",
    keyIn: bearerOf,
    texts: ({ body }) =>
      unknownKey(body, [
        "model",
        "input",
        "input_type",
        "truncation",
        "output_dimension",
        "output_dtype",
        "encoding_format",
      ]) ??
      missingModel(body) ??
      (body["input_type"] === "query" || body["input_type"] === "document"
        ? undefined
        : "input_type must be query or document") ??
      inputOf(body, 1000, "the input is not a list of at most 1000 texts"),
    problem: (_status, detail) => ({ detail }),
    answer: list,
  },
  gemini: {
    prefix: "/v1beta",
    isCall: (path) => /^\/v1beta\/models\/[\w.-]+:batchEmbedContents$/.test(path),
    keyIn: ({ headers }) => headers["x-goog-api-key"],
    texts: (request) => geminiTexts(request),
    problem: (status, message) => ({ error: { code: status, message, status: "INVALID_ARGUMENT" } }),
    answer: (vectors) => ({ embeddings: vectors.map((values) => ({ values })) }),
  },
  ollama: {
    prefix: "",
    isCall: (path) => path === "/api/embed",
    keyIn: bearerOf,
    texts: ({ body }) =>
      unknownKey(body, ["model", "input", "truncate", "options", "keep_alive", "dimensions"]) ??
      missingModel(body) ??
      inputOf(body, Infinity, "invalid input type"),
    problem: (_status, error) => ({ error }),
    answer: (vectors, { body }) => ({ model: body["model"], embeddings: vectors, total_duration: 1, load_duration: 1 }),
  },
};

function unknownKey(body: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  return unknown === undefined ? undefined : `Unrecognized request argument supplied: ${unknown}`;
}

function missingModel({ model }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof model === "string" && model !== "" ? undefined : "you must provide a model parameter";
}

function inputOf({ input }: Readonly<Record<string, unknown>>, max: number, wrong: string): string | readonly string[] {
  const isFine =
    Array.isArray(input) &&
    input.length > 0 &&
    input.length <= max &&
    input.every((text) => typeof text === "string" && text !== "");
  return isFine ? (input as readonly string[]) : wrong;
}

function geminiTexts({ body, path }: FakeRequest): string | readonly string[] {
  const model = /\/(models\/[^:]+):/.exec(path)?.[1];
  const requests = body["requests"];
  if (!Array.isArray(requests) || requests.length === 0) return "at least one request is required";
  if (requests.length > 100) return "at most 100 requests can be in one batch";
  const texts: string[] = [];
  for (const [at, entry] of (requests as unknown[]).entries()) {
    if (!isRecord(entry) || entry["model"] !== model) return `requests[${at}].model does not match the path`;
    const wrong = unknownKey(entry, ["model", "content", "taskType", "title", "outputDimensionality"]);
    if (wrong !== undefined) return wrong;
    if (!["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"].includes(String(entry["taskType"])))
      return `requests[${at}].taskType is unknown`;
    const { parts } = isRecord(entry["content"]) ? entry["content"] : {};
    const [part] = Array.isArray(parts) ? (parts as unknown[]) : [];
    if (!isRecord(part) || typeof part["text"] !== "string" || part["text"] === "")
      return `requests[${at}].content is empty`;
    texts.push(part["text"]);
  }
  return texts;
}
