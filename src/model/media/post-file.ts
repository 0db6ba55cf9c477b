// Sends one media file to a service while it is read from the disk, and reads the bounded JSON answer.
import { createMask } from "../../base/mask.ts";
import { readBounded, statusError } from "../bounded-response.ts";
import { toFailure } from "../failure.ts";
import { postStream } from "../fetch.ts";
import type { ModelEndpoint, ModelFailure } from "../model.ts";

export interface MediaSource {
  /** With the extension of the content: services choose the decoder by it. */
  readonly fileName: string;
  readonly mimeType: string;
  readonly size: number;
  /** The bytes from the start; can be called again. */
  open(): AsyncIterable<Uint8Array>;
}

export interface FileRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly before: string;
  readonly file: MediaSource;
  /** How the bytes are written between `before` and `after`. */
  readonly encoding: "binary" | "base64";
  readonly after: string;
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** The parsed answer, or the classified failure with secrets redacted. */
export async function postFile(
  { ref, credential, headers }: ModelEndpoint,
  request: FileRequest,
  signal: AbortSignal,
): Promise<{ readonly answer: unknown } | { readonly failure: ModelFailure }> {
  try {
    const response = await postStream(request.url, {
      // A configured header overrides ours.
      headers: merged({ accept: "application/json", ...request.headers }, headers),
      body: { length: lengthOf(request), open: () => partsOf(request) },
      signal,
    });
    const text = await readBounded(response, { maxBytes: MAX_ANSWER_BYTES });
    if (!response.ok) throw statusError(response, text);
    return { answer: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError)
      return { failure: { kind: "garbled", message: `${ref.provider}: the response is not JSON` } };
    const mask = createMask(credential === undefined ? [] : [credential.value]);
    return { failure: toFailure(error, { provider: ref.provider, mask, now: Date.now() }) };
  }
}

/** `Authorization`, or the header that the vendor has for keys. */
export function credentialHeader({ credential }: ModelEndpoint, keyHeader?: string): Record<string, string> {
  if (credential === undefined) return {};
  return credential.kind === "key" && keyHeader !== undefined
    ? { [keyHeader]: credential.value }
    : { authorization: `Bearer ${credential.value}` };
}

export const urlOf = ({ baseUrl }: ModelEndpoint, usual: string, path: string): string =>
  `${(baseUrl ?? usual).replace(/\/+$/, "")}${path}`;

function merged(
  ours: Readonly<Record<string, string>>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const lower = Object.entries(configured).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...ours, ...Object.fromEntries(lower) };
}

function lengthOf({ before, after, file, encoding }: FileRequest): number {
  const bytes = encoding === "base64" ? Math.ceil(file.size / 3) * 4 : file.size;
  return Buffer.byteLength(before) + bytes + Buffer.byteLength(after);
}

async function* partsOf({ before, after, file, encoding }: FileRequest): AsyncIterable<Uint8Array> {
  yield Buffer.from(before);
  yield* encoding === "base64" ? inBase64(file.open()) : file.open();
  yield Buffer.from(after);
}

/** Whole groups of three bytes at a time, so that the pieces join to one text. */
async function* inBase64(parts: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const part of parts) {
    const bytes = Buffer.concat([rest, part]);
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    yield Buffer.from(bytes.toString("base64", 0, whole), "latin1");
  }
  yield Buffer.from(rest.toString("base64"), "latin1");
}
