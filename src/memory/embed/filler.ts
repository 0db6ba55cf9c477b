// Gives the pieces of an index their vectors in the background, a stride at a time; what was done survives a crash.
import { setTimeout as pause } from "node:timers/promises";

import type { Log } from "../../base/log.ts";
import { EmbedError, type Embedder, type Filler, type FillPort, type OpenedEmbedder } from "./embedder.ts";

export interface FillerDeps {
  /** The embedder of now; asked before every stride. */
  readonly open: () => Promise<OpenedEmbedder>;
  readonly port: FillPort;
  readonly log: Log;
  /** Between two strides, so that a long index leaves room for others. */
  readonly breatheMs?: number;
  /** After a failure; grows up to 20 times. */
  readonly restMs?: number;
}

export function createFiller({ open, port, log, breatheMs = 20, restMs = 30_000 }: FillerDeps): Filler {
  const stop = new AbortController();
  /** Embedders that have given a vector: what they refuse now is the text's fault. */
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
      // After a failure only another embedder is worth asking at once.
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
        if (failures === 1) log.warn(`no vectors for now: ${error.message}`, { hint: error.hint });
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
      // While it rests after a failure, only the clock wakes it.
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

/** How many pieces got a vector. */
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

/** Of a text that was refused: it is not asked for again and never found. */
const nothing = new Float32Array(0);

/** One text a server refuses must not keep the others out; a server that refuses all of them is set up wrong. */
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
