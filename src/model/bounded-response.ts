// Reads the response of a model service up to a limit, and turns an error status into what `toFailure` classifies.

interface ReadLimits {
  readonly maxBytes: number;
  /** Called for each part that arrives. */
  readonly onPart?: () => void;
  readonly tooLarge?: () => Error;
}

export async function readBounded(response: Response, limits: ReadLimits): Promise<string> {
  const { maxBytes, onPart, tooLarge = () => new Error("the response is too large") } = limits;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    onPart?.();
    size += part.byteLength;
    if (size > maxBytes) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Redirects are errors too: the next host would get the key and the content. */
export function statusError(response: Response, responseBody: string): Error {
  return Object.assign(new Error(""), {
    statusCode: response.status,
    responseBody,
    responseHeaders: Object.fromEntries(response.headers),
  });
}
