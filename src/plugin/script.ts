// Runs the owner's scripts in their own thread, with a deadline and without the gateway's secrets.
import { pathToFileURL } from "node:url";

import { OpenClawError } from "../core/error.ts";
import type { Log } from "../base/log.ts";
import type { Env } from "../base/paths.ts";

export interface ScriptPlan {
  /** Absolute. */
  readonly file: string;
  /** Name of the function; default: the default export. */
  readonly exportName?: string | undefined;
  /** For messages. */
  readonly what: string;
  readonly env?: Env;
  readonly log: Log;
}

export interface ScriptAnswer {
  /** The return value; absent when there is none. */
  readonly result?: unknown;
  /** The argument after the call. */
  readonly argument: unknown;
}

export interface Script {
  /** Passes plain data both ways. Rejects with `script.failed` or `script.slow`, ends the thread, and starts a new one for the next call. */
  call(argument: unknown, deadlineMs: number): Promise<ScriptAnswer>;
  close(): Promise<void>;
}

const MAX_ANSWER_CHARS = 2_000_000;
const MAX_MEMORY_MB = 128;
const MAX_PRINTED = 2000;

/** The thread starts with the first call. */
export function openScript(plan: ScriptPlan): Script {
  let thread: Thread | undefined;
  return {
    async call(argument, deadlineMs) {
      if (thread?.isOver() === true) thread = undefined;
      const mine = (thread ??= startThread(plan));
      try {
        return await mine.ask(argument, deadlineMs);
      } catch (error) {
        // A thread that threw, hung or ended is not used for the next call.
        if (thread === mine) thread = undefined;
        await mine.end();
        throw error;
      }
    },
    async close() {
      await thread?.end();
      thread = undefined;
    },
  };
}

/** Runs one call in its own thread. */
export async function callScript(plan: ScriptPlan, argument: unknown, deadlineMs: number): Promise<ScriptAnswer> {
  const script = openScript(plan);
  try {
    return await script.call(argument, deadlineMs);
  } finally {
    await script.close();
  }
}

interface Thread {
  readonly isOver: () => boolean;
  readonly ask: (argument: unknown, deadlineMs: number) => Promise<ScriptAnswer>;
  readonly end: () => Promise<unknown>;
}

function startThread(plan: ScriptPlan): Thread {
  // Loaded on use, because few gateways need it.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
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
  const waiting = new Map<number, PromiseWithResolvers<ScriptAnswer>>();
  const failAll = (error: OpenClawError): void => {
    for (const caller of waiting.values()) caller.reject(error);
    waiting.clear();
  };
  let isOver = false;
  // The script can post messages too, so this handler must not throw.
  worker.on("message", (message: unknown) => {
    const { id, answer, error } = replyOf(message);
    const caller = waiting.get(id);
    waiting.delete(id);
    if (answer === undefined) caller?.reject(failed(plan, "script.failed", error));
    else caller?.resolve(answer);
  });
  worker.on("error", (error: unknown) => failAll(failed(plan, "script.failed", messageOf(error))));
  worker.on("exit", () => {
    isOver = true;
    failAll(failed(plan, "script.failed", "its thread ended"));
  });
  let count = 0;
  return {
    isOver: () => isOver,
    end: () => worker.terminate(),
    async ask(argument, deadlineMs) {
      const id = ++count;
      const caller = Promise.withResolvers<ScriptAnswer>();
      waiting.set(id, caller);
      const timer = setTimeout(() => {
        waiting.delete(id);
        caller.reject(failed(plan, "script.slow", `it took longer than ${deadlineMs / 1000} s and was stopped`));
      }, deadlineMs);
      try {
        worker.postMessage({ id, argument });
        return await caller.promise;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

interface Reply {
  readonly id: number;
  readonly answer?: ScriptAnswer;
  readonly error: string;
}

function replyOf(message: unknown): Reply {
  const { id, json, error } = (message ?? {}) as { id?: unknown; json?: unknown; error?: unknown };
  const reply = { id: typeof id === "number" ? id : 0, error: typeof error === "string" ? error : "no result arrived" };
  if (typeof json !== "string" || json.length > MAX_ANSWER_CHARS) return reply;
  try {
    const answer: unknown = JSON.parse(json);
    return typeof answer === "object" && answer !== null ? { ...reply, answer: answer as ScriptAnswer } : reply;
  } catch {
    return { ...reply, error: "its result is not JSON" };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function failed({ what, file }: ScriptPlan, code: string, why: string): OpenClawError {
  return new OpenClawError(code, `${what} failed: ${why.slice(0, 500)}`, { hint: `fix ${file}` });
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
    if (json.length > workerData.maxChars) throw new Error("its result is too long");
    parentPort.postMessage({ id, json });
  } catch (error) {
    parentPort.postMessage({ id, error: wordsOf(error) });
  }
});
`;
