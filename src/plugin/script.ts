// Code of the owner's that is no part of the house: run in a thread of its own, with a deadline, and without our secrets.
import { pathToFileURL } from "node:url";

import { HouseError } from "../core/error.ts";
import type { Log } from "../base/log.ts";
import type { Env } from "../base/paths.ts";

export interface ScriptPlan {
  /** Absolute. */
  readonly file: string;
  /** Name of the function; the default export when left out. */
  readonly exportName?: string | undefined;
  /** For messages. */
  readonly what: string;
  readonly env?: Env;
  readonly log: Log;
}

export interface ScriptAnswer {
  /** What the function gave back; absent when it gave nothing. */
  readonly result?: unknown;
  /** The argument as the function left it. */
  readonly argument: unknown;
}

export interface Script {
  /** Both ways as plain data. Rejects with `script.failed` or `script.slow`; the thread is then gone, and the next call starts anew. */
  call(argument: unknown, deadlineMs: number): Promise<ScriptAnswer>;
  close(): Promise<void>;
}

const MAX_ANSWER_CHARS = 2_000_000;
const MAX_MEMORY_MB = 128;
const MAX_PRINTED = 2000;

interface Reply {
  readonly id: number;
  readonly json?: string;
  readonly error?: string;
}

/** Nothing is started before the first call. */
export function openScript(plan: ScriptPlan): Script {
  let thread: Promise<Thread> | undefined;
  return {
    async call(argument, deadlineMs) {
      const mine = (thread ??= startThread(plan));
      const forget = (): void => {
        if (thread === mine) thread = undefined;
      };
      try {
        const opened = await mine;
        void opened.ended.then(forget);
        return await opened.ask(argument, deadlineMs);
      } catch (error) {
        // What hangs or broke off cannot be trusted with the next call.
        forget();
        if (!(error instanceof HouseError) || error.code !== "script.threw") await mine.then(({ end }) => end());
        throw error;
      }
    },
    async close() {
      await thread?.then(({ end }) => end());
      thread = undefined;
    },
  };
}

/** One call in a thread of its own. */
export async function callScript(plan: ScriptPlan, argument: unknown, deadlineMs: number): Promise<ScriptAnswer> {
  const script = openScript(plan);
  try {
    return await script.call(argument, deadlineMs);
  } finally {
    await script.close();
  }
}

interface Thread {
  readonly ended: Promise<void>;
  ask(argument: unknown, deadlineMs: number): Promise<ScriptAnswer>;
  end(): Promise<void>;
}

async function startThread(plan: ScriptPlan): Promise<Thread> {
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(program, {
    eval: true,
    workerData: {
      url: pathToFileURL(plan.file).href,
      exportName: plan.exportName ?? "default",
      maxChars: MAX_ANSWER_CHARS,
    },
    env: { ...plan.env },
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  worker.unref();
  for (const stream of [worker.stdout, worker.stderr])
    stream.on("data", (chunk: Buffer) =>
      plan.log.debug(`${plan.what} printed`, { text: chunk.toString().slice(0, MAX_PRINTED) }),
    );
  const waiting = new Map<number, { resolve(answer: ScriptAnswer): void; reject(error: HouseError): void }>();
  const failAll = (error: HouseError): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const { promise: ended, resolve: nowEnded } = Promise.withResolvers<void>();
  worker.on("message", ({ id, json, error }: Reply) => {
    const caller = waiting.get(id);
    waiting.delete(id);
    if (json === undefined) caller?.reject(failed(plan, "script.threw", error ?? "it ended without an answer"));
    else caller?.resolve(JSON.parse(json) as ScriptAnswer);
  });
  worker.on("error", (error: unknown) => failAll(failed(plan, "script.failed", messageOf(error))));
  worker.on("exit", () => {
    failAll(failed(plan, "script.failed", "its thread ended"));
    nowEnded();
  });
  let count = 0;
  return {
    ended,
    async end() {
      await worker.terminate();
    },
    ask(argument, deadlineMs) {
      const id = ++count;
      const { promise, resolve, reject } = Promise.withResolvers<ScriptAnswer>();
      waiting.set(id, { resolve, reject });
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(failed(plan, "script.slow", `it took longer than ${deadlineMs / 1000} s and was stopped`));
      }, deadlineMs);
      worker.postMessage({ id, argument });
      return promise.finally(() => clearTimeout(timer));
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function failed({ what, file }: ScriptPlan, code: string, why: string): HouseError {
  return new HouseError(code, `${what} failed: ${why.slice(0, 500)}`, { hint: `mend ${file}` });
}

// Plain JavaScript as text, because a bundle has no second file to start a thread from.
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const loaded = import(workerData.url);
loaded.catch(() => {});
const wordsOf = (error) => (error instanceof Error ? error.name + ": " + error.message : String(error));
parentPort.on("message", async ({ id, argument }) => {
  try {
    const found = (await loaded)[workerData.exportName];
    if (typeof found !== "function") throw new Error("it has no function exported as " + workerData.exportName);
    const result = await found(argument);
    const json = JSON.stringify({ result, argument });
    if (json.length > workerData.maxChars) throw new Error("its answer is too long");
    parentPort.postMessage({ id, json });
  } catch (error) {
    parentPort.postMessage({ id, error: wordsOf(error) });
  }
});
`;
