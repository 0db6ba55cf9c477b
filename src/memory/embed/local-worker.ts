// The process with the local model: receives texts, returns vectors, and serves queries before passages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import type { LocalModel } from "./extra.ts";
import { windowsOf } from "./windows.ts";

export interface WorkerRequest {
  readonly id: number;
  readonly texts: readonly string[];
  readonly isQuery: boolean;
}

export type WorkerAnswer =
  | { readonly ready: true }
  | { readonly id: number; readonly vectors: readonly (readonly Float32Array[])[] }
  | { readonly id: number | undefined; readonly error: string };

interface Engine {
  embed(texts: readonly string[]): ArrayLike<number>[];
}

interface Task {
  readonly request: WorkerRequest;
  readonly vectors: Float32Array[][];
}

const tasks: Task[] = [];
let isWorking = false;

try {
  const model = JSON.parse(process.argv[2] ?? "{}") as LocalModel;
  const engine = load(model);
  process.on("message", (request: WorkerRequest) => {
    const task = { request, vectors: [] };
    // A person waits for the answer to a query.
    const at = request.isQuery ? tasks.findIndex(({ request: other }) => !other.isQuery) : -1;
    if (at < 0) tasks.push(task);
    else tasks.splice(at, 0, task);
    if (!isWorking) setImmediate(() => work(engine, model.maxTokens));
    isWorking = true;
  });
  // The parent process is gone, or asked this one to end.
  process.on("disconnect", () => process.exit(0));
  tell({ ready: true });
} catch (error) {
  tell({ id: undefined, error: error instanceof Error ? error.message : String(error) });
  process.disconnect?.();
}

function load({ engine, folder, weights, maxTokens }: LocalModel): Engine {
  const require = createRequire(import.meta.url);
  const { Embedder } = require(join(engine, "dist", "engine.cjs")) as {
    Embedder: new (weights: Uint8Array, tokenizer: Uint8Array, config: Uint8Array, maxTokens: number) => Engine;
  };
  const read = (file: string): Uint8Array => new Uint8Array(readFileSync(file));
  return new Embedder(
    read(weights),
    read(join(folder, "tokenizer.json")),
    read(join(folder, "config.json")),
    maxTokens,
  );
}

/** Checks for messages after each text, which takes up to a second. */
function work(engine: Engine, maxTokens: number): void {
  const [task] = tasks;
  isWorking = task !== undefined;
  if (task === undefined) return;
  const { request, vectors } = task;
  try {
    const text = request.texts[vectors.length];
    if (text !== undefined) vectors.push(windowsOf(text, maxTokens).map((part) => embedOne(engine, part)));
    if (vectors.length >= request.texts.length) finish(task, { id: request.id, vectors });
  } catch (error) {
    finish(task, { id: request.id, error: error instanceof Error ? error.message : String(error) });
  }
  setImmediate(() => work(engine, maxTokens));
}

function embedOne(engine: Engine, text: string): Float32Array {
  const [vector] = engine.embed([text]);
  return Float32Array.from(vector ?? []);
}

function finish(task: Task, answer: WorkerAnswer): void {
  tasks.splice(tasks.indexOf(task), 1);
  tell(answer);
}

function tell(answer: WorkerAnswer): void {
  process.send?.(answer);
}
