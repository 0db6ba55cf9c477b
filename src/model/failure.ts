// Classifies the failure of a model call from any error of a vendor or the network.
import { isRecord } from "../core/record.ts";
import type { FailureKind, ModelFailure } from "./model.ts";

export interface FailureContext {
  readonly provider: string;
  /** Redacts secrets in messages. */
  readonly mask: (text: string) => string;
  readonly now: number;
}

/** `error` is anything a vendor's package threw or put into its stream. */
export function toFailure(error: unknown, { provider, mask, now }: FailureContext): ModelFailure {
  const facts = factsOf(error);
  const kind = kindOf(facts);
  const retryAfterMs = retryAfterOf(facts, now);
  return {
    kind,
    message: mask(`${provider}: ${sentence(kind, facts)}`),
    ...(facts.status === undefined ? {} : { status: facts.status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

interface Facts {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** All text there is: message, body, codes, causes. */
  readonly text: string;
  /** The vendor's own sentence. */
  readonly message: string;
  readonly codes: readonly string[];
  readonly names: readonly string[];
}

function factsOf(error: unknown): Facts {
  const chain = causesOf(error);
  const records = chain.flatMap((link) => [link, ...nestedErrors(link)]);
  const messages = records.flatMap((link) => textAt(link, "message"));
  const bodies = chain.flatMap((link) => textAt(link, "responseBody"));
  const status = chain
    .map((link) => Number(link["statusCode"] ?? link["status"]))
    .find((code) => code >= 300 && code < 600);
  const codes = records.flatMap((link) => [
    ...textAt(link, "code"),
    ...textAt(link, "type"),
    ...textAt(link, "status"),
  ]);
  const headers = chain.map((link) => link["responseHeaders"]).find((value) => isRecord(value)) ?? {};
  const plain = typeof error === "string" ? [error] : [];
  const message = messages.find((text) => text !== "" && !/^failed to process/i.test(text)) ?? plain[0] ?? "";
  return {
    status,
    headers: headers as Record<string, string>,
    text: [...plain, ...messages, ...bodies, ...codes].join("\n").slice(0, 20_000),
    message: message === "" || /^(invalid json|failed to process)/i.test(message) ? (bodies[0] ?? "") : message,
    codes,
    names: chain.flatMap((link) => textAt(link, "name")),
  };
}

function kindOf({ status, text, codes, names }: Facts): FailureKind {
  if (contextTexts.test(text) && status !== 429) return "context";
  if (billingTexts.test(text) || status === 402) return "billing";
  if (authTexts.test(text) || status === 401 || status === 403) return "auth";
  if (codes.some((code) => networkCodes.test(code))) return "network";
  if (status === 429 || codes.some((code) => /rate_?limit|resource_exhausted/i.test(code))) return "rate-limit";
  if (status === 413) return "context";
  if (codes.some((code) => /overloaded|server_error|api_error|unavailable|internal/i.test(code))) return "overloaded";
  if (status !== undefined && (status >= 500 || status === 408 || status === 409)) return "overloaded";
  if (names.some((name) => /JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody/.test(name)))
    return "garbled";
  if (status !== undefined && status >= 300) return "invalid";
  if (codes.some((code) => /invalid_request|invalid_argument|not_found/i.test(code))) return "invalid";
  if (names.some((name) => /UnsupportedFunctionality|InvalidPrompt|InvalidArgument/.test(name))) return "invalid";
  return /socket hang up|premature close|aborted|terminated|network|connect/i.test(text) ? "network" : "garbled";
}

/** Messages of vendors and local servers for a request that exceeds the context window. */
const contextTexts = new RegExp(
  [
    "context_length_exceeded",
    "maximum context length",
    "exceeds? the (model's )?(maximum )?context",
    "exceeds? the available context",
    "exceed_context_size",
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "input token count .*exceeds",
    "greater than the context length",
    "maximum prompt length",
    "context window exceeds",
    "context (size|window|length) (has been )?exceeded",
    "reduce the length of the (messages|prompt|input)",
    "request_too_large",
    "too many (input )?tokens",
  ].join("|"),
  "i",
);
const billingTexts =
  /insufficient_quota|credit balance is too low|insufficient (credits|balance|funds)|billing_(hard_limit|not_active|error)|payment required|requires more credits/i;
const authTexts =
  /invalid_api_key|api[ _]key not valid|incorrect api key|invalid x-api-key|authentication_error|permission_error|unauthenticated/i;
const networkCodes =
  /^(ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HPE_|ERR_STREAM_PREMATURE|UND_ERR|EPROTO)/;

/** Seconds, a date, or Google's retryDelay in the body. */
function retryAfterOf({ headers, text }: Facts, now: number): number | undefined {
  const exact = Number(headers["retry-after-ms"]);
  if (headers["retry-after-ms"] !== undefined && exact >= 0) return exact;
  const given = headers["retry-after"]?.trim();
  if (given !== undefined && /^\d+(\.\d+)?$/.test(given)) return Math.round(Number(given) * 1000);
  if (given !== undefined && given !== "") {
    const at = Date.parse(given);
    if (!Number.isNaN(at)) return Math.max(0, at - now);
  }
  const delay = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  return delay === undefined ? undefined : Math.round(Number(delay) * 1000);
}

function sentence(kind: FailureKind, { status, message, codes }: Facts): string {
  const code = codes.find((entry) => networkCodes.test(entry));
  const said = message.replaceAll(/\s+/g, " ").trim().slice(0, 300);
  const lead = leads[kind];
  const number = status === undefined ? "" : ` (HTTP ${status})`;
  const detail = said === "" ? (code ?? "") : said;
  return detail === "" ? `${lead}${number}` : `${lead}${number}: ${detail}`;
}

const leads: Readonly<Record<FailureKind, string>> = {
  auth: "the key was not accepted",
  billing: "the account has no credit",
  "rate-limit": "too many requests",
  overloaded: "the server failed or is overloaded",
  context: "the conversation is longer than the model can hold",
  invalid: "the request was refused",
  unsupported: "the model does not have what was asked for",
  network: "no connection to the model",
  timeout: "no response in time",
  garbled: "the response could not be read",
  empty: "the response was empty",
  aborted: "stopped",
};

function causesOf(error: unknown): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (let link = error; isRecord(link) && !found.includes(link) && found.length < 8; link = link["cause"])
    found.push(link);
  return found;
}

/** `{error: {message, type, code}}`, parsed or still in the body. */
function nestedErrors(link: Record<string, unknown>): Record<string, unknown>[] {
  const inner = [link["error"], link["data"], parsed(link["responseBody"])].filter((value) => isRecord(value));
  return inner.flatMap((value) => (isRecord(value["error"]) ? [value["error"], value] : [value]));
}

function parsed(body: unknown): unknown {
  if (typeof body !== "string" || body.length > 100_000 || !body.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    // Not JSON: the text itself is used.
    return undefined;
  }
}

function textAt(link: Record<string, unknown>, key: string): string[] {
  const value = link[key];
  return typeof value === "string" ? [value] : [];
}
