// Reads pages and PDF files in threads with limits of time and memory, so that no page can hold up the gateway.
import type { Worker } from "node:worker_threads";

import { OpenClawError } from "../../core/error.ts";
import type { Extracted, Job, PageJob, PdfJob, Reply, Rows, RowsJob } from "./job.ts";

export type { Extracted, Mode } from "./job.ts";

export interface Extraction {
  /** Rejects with `extract.*`. The bytes are moved to the thread and are empty afterwards. */
  page(job: Omit<PageJob, "kind">, limits?: ExtractLimits): Promise<Extracted>;
  rows(job: Omit<RowsJob, "kind">, limits?: ExtractLimits): Promise<Rows>;
  pdf(job: Omit<PdfJob, "kind">, limits?: ExtractLimits): Promise<Extracted>;
  close(): Promise<void>;
}

export interface ExtractLimits {
  readonly timeoutMs?: number;
  /** Of buffers, which the limit of the heap does not count. */
  readonly maxBufferBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 20_000;
/** A thread that waits for work costs memory; one that starts costs a tenth of a second. */
const IDLE_MS = 30_000;
const MEMORY_MB = 512;
/** Buffers lie outside of the heap that V8 bounds: a PDF of 3 KB can ask for gigabytes of them. */
const MAX_BUFFER_BYTES = 256_000_000;
const WATCH_MS = 100;

/** Threads start with the first job. One of each kind works at a time; the others wait. */
export function createExtraction(): Extraction {
  const pages = createThread("page-worker");
  const pdfs = createThread("pdf-worker");
  return {
    page: (job, limits) => pages.ask({ ...job, kind: "page" }, limits) as Promise<Extracted>,
    rows: (job, limits) => pages.ask({ ...job, kind: "rows" }, limits) as Promise<Rows>,
    pdf: (job, limits) => pdfs.ask({ ...job, kind: "pdf" }, limits) as Promise<Extracted>,
    async close() {
      await Promise.all([pages.close(), pdfs.close()]);
    },
  };
}

interface Thread {
  ask(job: Job, limits?: ExtractLimits): Promise<Extracted | Rows>;
  close(): Promise<void>;
}

function createThread(name: string): Thread {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  let lastId = 0;
  // Each job waits for the one before it, whatever became of that.
  let queue: Promise<unknown> = Promise.resolve();

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const open = worker;
    worker = undefined;
    await open?.terminate();
  };

  const work = (
    job: Job,
    { timeoutMs = TIMEOUT_MS, maxBufferBytes = MAX_BUFFER_BYTES, signal }: ExtractLimits,
  ): Promise<Extracted | Rows> => {
    if (isClosed) return Promise.reject(new OpenClawError("extract.closed", "the gateway is stopping"));
    signal?.throwIfAborted();
    clearTimeout(idle);
    const mine = (worker ??= startWorker(name));
    mine.ref();
    const id = ++lastId;
    return new Promise<Extracted | Rows>((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        clearInterval(watch);
        signal?.removeEventListener("abort", onAbort);
        mine.off("message", onMessage).off("error", onError).off("exit", onExit);
        mine.unref();
        if (worker === mine) idle = setTimeout(() => void end(), IDLE_MS).unref();
        finish();
      };
      // A thread that hangs, ran out of memory or works for a caller that left is not used again.
      const giveUp = (error: unknown): void => {
        if (worker === mine) worker = undefined;
        void mine.terminate();
        settle(() => reject(error));
      };
      const onAbort = (): void => giveUp(signal?.reason);
      const onMessage = (reply: Reply): void => {
        if (reply.id !== id) return;
        if ("value" in reply) settle(() => resolve(reply.value));
        else settle(() => reject(new OpenClawError(reply.failure.code, reply.failure.message)));
      };
      const onError = (error: unknown): void => giveUp(tooMuch(error));
      const onExit = (): void => giveUp(new OpenClawError("extract.failed", "the extraction thread ended"));
      const timer = setTimeout(
        () =>
          giveUp(new OpenClawError("extract.timeout", `reading the content took longer than ${timeoutMs / 1000} s`)),
        timeoutMs,
      );
      const watch = setInterval(() => {
        void mine.getHeapStatistics().then(
          ({ external_memory: bytes }) => {
            if (bytes > maxBufferBytes && worker === mine && id === lastId) giveUp(tooMuchMemory());
          },
          () => {}, // the thread is not running yet, or no longer: asked again until the job is settled
        );
      }, WATCH_MS);
      signal?.addEventListener("abort", onAbort, { once: true });
      mine.on("message", onMessage).on("error", onError).on("exit", onExit);
      mine.postMessage({ id, job }, [job.bytes.buffer as ArrayBuffer]);
    });
  };

  return {
    ask(job, limits = {}) {
      const bytes = whole(job.bytes);
      const next = queue.then(() => work({ ...job, bytes }, limits));
      queue = next.catch(() => undefined);
      return next;
    },
    async close() {
      isClosed = true;
      await end();
    },
  };
}

/** Only memory that belongs to these bytes alone can be moved. */
function whole(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
    ? bytes
    : Uint8Array.from(bytes);
}

function startWorker(name: string): Worker {
  const { Worker: Started } = process.getBuiltinModule("node:worker_threads");
  const isSource = import.meta.url.endsWith(".ts");
  return new Started(new URL(isSource ? `./${name}.ts` : `./${name}.js`, import.meta.url), {
    name,
    // Nothing of the gateway's secrets: the content of a page is parsed here.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, stackSizeMb: 4 },
  });
}

function tooMuch(error: unknown): OpenClawError {
  const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isMemory
    ? tooMuchMemory(error)
    : new OpenClawError("extract.failed", "the content cannot be read", { cause: error });
}

function tooMuchMemory(cause?: unknown): OpenClawError {
  return new OpenClawError("extract.failed", "the content needs too much memory", { cause });
}
