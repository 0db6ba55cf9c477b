// Splits many texts into requests that a server accepts, runs a few at a time, and returns the results in order.

export interface BatchLimits {
  readonly maxTexts: number;
  /** Total UTF-8 bytes of all texts of one request. */
  readonly maxBytes: number;
  readonly concurrency?: number;
}

export async function inBatches<T>(
  texts: readonly string[],
  { maxTexts, maxBytes, concurrency = 2 }: BatchLimits,
  send: (texts: readonly string[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const batches = cut(texts, maxTexts, maxBytes);
  const answers: (readonly T[])[] = Array.from({ length: batches.length }, () => []);
  const queue = batches.entries();
  // All workers take from one queue; the first failure stops all of them.
  const lane = async (): Promise<void> => {
    for (const [at, batch] of queue) answers[at] = await send(batch);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, batches.length) }, lane));
  return answers.flat();
}

/** A text over the limit is sent alone: the server decides how to handle it. */
export function cut(texts: readonly string[], maxTexts: number, maxBytes: number): string[][] {
  const batches: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const current = batches.at(-1);
    if (current === undefined || current.length >= maxTexts || bytes + size > maxBytes) {
      batches.push([text]);
      bytes = size;
    } else {
      current.push(text);
      bytes += size;
    }
  }
  return batches;
}
