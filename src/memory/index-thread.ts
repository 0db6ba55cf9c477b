// Calls the index thread from the main thread; starts a new thread after a crash.
import { Worker } from "node:worker_threads";

import { OpenClawError } from "../core/error.ts";
import type { EngineCalls, EngineFailure, EngineMethod, EngineReply, EngineRequest } from "./engine-messages.ts";
import type { IndexSettings } from "./settings.ts";

export interface IndexThread {
  /** Rejects with OpenClawError, `memory.thread` when the thread itself is gone. */
  ask<M extends EngineMethod>(
    settings: IndexSettings,
    method: M,
    ...args: Parameters<EngineCalls[M]>
  ): Promise<Awaited<ReturnType<EngineCalls[M]>>>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** The thread starts with the first call and does not keep the process alive. */
export function createIndexThread(onChange: (file: string) => void): IndexThread {
  let worker: Worker | undefined;
  let lastId = 0;
  let isClosed = false;
  const waiting = new Map<number, Waiting>();

  const start = (): Worker => {
    const started = new Worker(workerUrl(), { name: "memory" });
    started.on("message", (reply: EngineReply) => {
      if ("changed" in reply) return onChange(reply.changed);
      const asker = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (waiting.size === 0) started.unref();
      if ("failure" in reply) asker?.reject(errorOf(reply.failure));
      else asker?.resolve(reply.value);
    });
    let isGone = false;
    const gone = (cause: unknown): void => {
      // A crash is reported twice; by the second time callers may already wait for the next thread.
      if (isGone) return;
      isGone = true;
      if (worker === started) worker = undefined;
      for (const asker of waiting.values()) asker.reject(threadGone(cause));
      waiting.clear();
    };
    started.on("error", gone);
    started.on("exit", gone);
    return started;
  };

  const send = (request: Omit<EngineRequest, "id">): Promise<unknown> =>
    new Promise((resolve, reject) => {
      worker ??= start();
      worker.ref();
      const id = (lastId += 1);
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, ...request } satisfies EngineRequest);
    });

  return {
    ask: (settings, method, ...args) =>
      (isClosed ? Promise.reject(closed()) : send({ settings, method, args })) as never,
    async close() {
      // A thread started after the close would keep the index locked for the next gateway of this process.
      isClosed = true;
      const open = worker;
      if (open === undefined) return;
      await send({ settings: {} as IndexSettings, method: "close", args: [] }).catch(() => undefined);
      worker = undefined;
      await open.terminate();
    },
  };
}

/** A separate file beside the bundle, or the source file when run from source. */
function workerUrl(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "./worker.ts" : "./memory-worker.js", import.meta.url);
}

function errorOf({ code, message, hint, details }: EngineFailure): Error {
  if (code === undefined) return new Error(message);
  return new OpenClawError(code, message, { ...(hint === undefined ? {} : { hint }), details });
}

const closed = (): OpenClawError => new OpenClawError("memory.closed", "the gateway is stopping");

function threadGone(cause: unknown): OpenClawError {
  return new OpenClawError("memory.thread", "the index thread ended; it starts again with the next search", {
    hint: "openclaw logs",
    ...(cause instanceof Error ? { cause } : {}),
  });
}
