// One JSON request to an embedding server: deadlines, bounded responses, classified failures, retries.
import { setTimeout as pause } from "node:timers/promises";

import { createMask } from "../../base/mask.ts";
import { readBounded, statusError } from "../../model/bounded-response.ts";
import { startWatchdog, type Deadlines } from "../../model/deadline.ts";
import { toFailure } from "../../model/failure.ts";
import { createFetch } from "../../model/fetch.ts";
import { EmbedError, type EmbedFault, type EmbedKind } from "./embedder.ts";

export interface Endpoint {
  readonly provider: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Redacted in every message. */
  readonly secret: string | undefined;
  /** The config key that fixes a failure. */
  readonly hint: string;
  readonly patience?: Partial<Record<EmbedKind, Patience>>;
}

export interface Patience {
  readonly tries: number;
  /** Total delay of all retries. */
  readonly waitMs: number;
  readonly deadlines: Deadlines;
}

/** A person waits for a query; indexing has time. */
const patienceOf: Readonly<Record<EmbedKind, Patience>> = {
  query: { tries: 2, waitMs: 1000, deadlines: { connectMs: 3000, firstTokenMs: 8000, stallMs: 8000 } },
  passage: { tries: 5, waitMs: 60_000, deadlines: { connectMs: 15_000, firstTokenMs: 60_000, stallMs: 30_000 } },
};
const firstWaitMs = 500;
const longestWaitMs = 20_000;
/** 2048 vectors of 3072 numbers are about 80 MB of JSON; no valid response is larger. */
const maxAnswerBytes = 128 * 1024 * 1024;

export async function askForVectors(
  endpoint: Endpoint,
  body: unknown,
  kind: EmbedKind,
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  const patience = endpoint.patience?.[kind] ?? patienceOf[kind];
  let leftMs = patience.waitMs;
  for (let count = 1; ; count += 1) {
    try {
      return await askOnce(endpoint, body, patience.deadlines, signal);
    } catch (error) {
      if (!(error instanceof EmbedError) || !mayPass(error) || count >= patience.tries) throw error;
      const waitMs = waitBefore(count, error);
      if (waitMs > leftMs) throw error;
      leftMs -= waitMs;
      await pause(waitMs, undefined, { signal }).catch(() => {
        throw stopped();
      });
    }
  }
}

/** Retries do not help against a wrong key or a rejected request. */
export function mayPass({ fault }: EmbedError): boolean {
  return fault === "rate-limit" || fault === "overloaded" || fault === "network" || fault === "timeout";
}

/** The delay that the server asks for, otherwise exponential with jitter. */
function waitBefore(count: number, { retryAfterMs }: EmbedError): number {
  const own = Math.min(longestWaitMs, firstWaitMs * 2 ** (count - 1));
  return retryAfterMs ?? Math.round(own * (0.75 + Math.random() / 2));
}

async function askOnce(endpoint: Endpoint, body: unknown, deadlines: Deadlines, signal: AbortSignal): Promise<unknown> {
  const dog = startWatchdog(deadlines, signal);
  try {
    const response = await createFetch(dog)(endpoint.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...endpoint.headers },
      body: JSON.stringify(body),
      signal: dog.signal,
    });
    const text = await readBounded(response, {
      maxBytes: maxAnswerBytes,
      onPart: () => dog.token(),
      tooLarge: () => new EmbedError("garbled", "the response is too large"),
    });
    if (response.status < 200 || response.status > 299) throw statusError(response, text);
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (signal.aborted) throw stopped();
    if (error instanceof EmbedError) throw error;
    if (dog.missed() !== undefined)
      throw new EmbedError("timeout", `${endpoint.provider}: no response in time`, {
        hint: endpoint.hint,
        cause: error,
      });
    throw toEmbedError(error, endpoint);
  } finally {
    dog.close(true);
  }
}

function toEmbedError(error: unknown, { provider, secret, hint }: Endpoint): EmbedError {
  if (error instanceof SyntaxError)
    return new EmbedError("garbled", `${provider}: the response is not JSON`, { hint, cause: error });
  const mask = createMask(secret === undefined ? [] : [secret]);
  const { kind, message, retryAfterMs } = toFailure(error, { provider, mask, now: Date.now() });
  const fault: EmbedFault =
    kind === "context" || kind === "unsupported" ? "invalid" : kind === "empty" ? "garbled" : kind;
  return new EmbedError(fault, message, { hint, retryAfterMs });
}

function stopped(): EmbedError {
  return new EmbedError("aborted", "stopped");
}
