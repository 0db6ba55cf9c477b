// Computes the vectors of an index in the background, in batches; finished work survives a crash.
import { setTimeout as pause } from "node:timers/promises";

import type { Log } from "../../base/log.ts";
import { EmbedError, type Embedder, type Filler, type FillPort, type OpenedEmbedder } from "./embedder.ts";

export interface FillerDeps {
  /** The current embedder; called before every batch. */
  readonly open: () => Promise<OpenedEmbedder>;
  readonly port: FillPort;
  readonly log: Log;
  /** Delay between two batches, so that a long index leaves time for other work. */
  readonly breatheMs?: number;
  /** Delay after a failure; grows up to 20 times. */
  readonly restMs?: number;
}

export function createFiller({ open, port, log, breatheMs = 20, restMs = 30_000 }: FillerDeps): Filler {
  const stop = new AbortController();
  /** Embedders that have returned a vector: for them a rejection is about the text. */
  const proven = new Set<string>();
  let work: Promise<void> | undefined;
  let isAsked = false;
  let problem: string | undefined;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  const run = async (): Promise<void> => {
    let failed: string | undefined;
    while (!stop.signal.aborted) {
      const { embedder, reason } = await open();
      problem = embedder === undefined ? reason : problem;
      // After a failure, only another embedder is tried immediately.
      if (embedder === undefined || embedder.fingerprint === failed) return;
      try {
        const count = await fillStride(embedder, port, proven, stop.signal);
        if (count === 0) return void (problem = undefined);
        failures = 0;
        problem = undefined;
        failed = undefined;
        await pause(breatheMs, undefined, { signal: stop.signal }).catch(() => undefined);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof EmbedError)) throw error;
        problem = error.message;
        failed = embedder.fingerprint;
        failures += 1;
        if (failures === 1) log.warn(`vectors cannot be computed now: ${error.message}`, { hint: error.hint });
        again(error.retryAfterMs);
      }
    }
  };
  const again = (askedMs: number | undefined): void => {
    clearTimeout(timer);
    timer = setTimeout(start, Math.max(askedMs ?? 0, restMs * Math.min(20, 2 ** (failures - 1))));
    timer.unref();
  };
  const start = (): void => {
    if (stop.signal.aborted || work !== undefined) return;
    isAsked = false;
    clearTimeout(timer);
    timer = undefined;
    work = run()
      .catch((error: unknown) => {
        problem = error instanceof Error ? error.message : String(error);
        failures += 1;
        log.warn(`vectors could not be written: ${problem}`);
        again(undefined);
      })
      .finally(() => {
        work = undefined;
        if (isAsked && timer === undefined) start();
      });
  };
  return {
    poke() {
      isAsked = true;
      // While it waits after a failure, only the timer resumes it.
      if (timer === undefined) start();
    },
    async settled() {
      while (work !== undefined) await work;
    },
    problem: () => problem,
    isBusy: () => work !== undefined,
    async close() {
      stop.abort();
      clearTimeout(timer);
      await work;
    },
  };
}

/** Number of chunks that got a vector. */
async function fillStride(
  embedder: Embedder,
  port: FillPort,
  proven: Set<string>,
  signal: AbortSignal,
): Promise<number> {
  const rows = await port.pending(embedder.fingerprint, embedder.stride);
  if (rows.length === 0) return 0;
  const texts = rows.map(({ text }) => text);
  const vectors = await embedder.embed(texts, "passage", signal).catch((error: unknown) => {
    if (!(error instanceof EmbedError) || error.fault !== "invalid") throw error;
    return oneByOne(embedder, texts, error, proven, signal);
  });
  proven.add(embedder.fingerprint);
  await port.put(
    embedder.fingerprint,
    rows.map(({ hash }, at) => ({ hash, vector: vectors[at] ?? nothing })),
  );
  return rows.length;
}

/** Marks a rejected text: it is not sent again and never found. */
const nothing = new Float32Array(0);

/** One rejected text must not block the others; a server that rejects all texts is misconfigured. */
async function oneByOne(
  embedder: Embedder,
  texts: readonly string[],
  refusal: EmbedError,
  proven: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const found: Float32Array[] = [];
  for (const text of texts.length > 1 ? texts : [])
    try {
      const [vector = nothing] = await embedder.embed([text], "passage", signal);
      found.push(vector);
    } catch (error) {
      if (!(error instanceof EmbedError) || error.fault !== "invalid") throw error;
      found.push(nothing);
    }
  if (!proven.has(embedder.fingerprint) && found.every((vector) => vector === nothing)) throw refusal;
  return found;
}
