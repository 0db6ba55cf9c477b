// The local embedding model: a separate process that starts with the first request and ends when idle.
import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";

import { NO_DEBUGGER } from "../../base/no-debugger.ts";
import { EmbedError, type Embedder } from "./embedder.ts";
import { addExtraCommand, type LocalModel } from "./extra.ts";
import type { WorkerAnswer, WorkerRequest } from "./local-worker.ts";
import { meanOf, toVector, toVectors } from "./vector.ts";

export interface LocalOptions {
  /** The process ends after this time without a request. */
  readonly idleMs?: number;
  /** Called for every started process. */
  readonly onStart?: (pid: number) => void;
}

/** Loading takes half a second to a few seconds, a passage up to one second. */
const coldWaitMs = 8000;
const warmWaitMs = 3000;

interface Waiting {
  resolve(vectors: readonly (readonly Float32Array[])[]): void;
  reject(error: EmbedError): void;
}

export function createLocal(model: LocalModel, { idleMs = 5 * 60_000, onStart }: LocalOptions = {}): Embedder {
  const waiting = new Map<number, Waiting>();
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;
  let isLoaded = false;

  const end = (): void => {
    clearTimeout(idle);
    child?.disconnect();
    // Killed, because it may be in the middle of a long text and its memory is needed now.
    child?.kill("SIGKILL");
    child = undefined;
  };
  const rest = (): void => {
    clearTimeout(idle);
    if (waiting.size > 0 || child === undefined) return;
    hold(child, false);
    idle = setTimeout(end, idleMs);
    idle.unref();
  };
  const lose = (gone: ChildProcess, why: string): void => {
    if (child === gone) child = undefined;
    for (const [id, asked] of waiting) {
      waiting.delete(id);
      asked.reject(new EmbedError("overloaded", `local: ${why}`, { hint: addExtraCommand }));
    }
  };
  const running = (): ChildProcess => {
    if (child?.connected === true) return child;
    const fresh = start(model);
    child = fresh;
    isLoaded = false;
    if (fresh.pid !== undefined) onStart?.(fresh.pid);
    fresh.on("message", (answer: WorkerAnswer) => {
      if ("ready" in answer) {
        isLoaded = true;
        return lower(fresh.pid);
      }
      if (answer.id === undefined) return lose(fresh, "error" in answer ? answer.error : "the process did not start");
      const asked = waiting.get(answer.id);
      waiting.delete(answer.id);
      if ("error" in answer) asked?.reject(new EmbedError("invalid", `local: ${answer.error}`));
      else asked?.resolve(answer.vectors);
      rest();
    });
    fresh.on("error", (error) => lose(fresh, error.message));
    fresh.on("exit", (code, signal) => lose(fresh, `the model process ended (${signal ?? code})`));
    return fresh;
  };

  return {
    provider: "local",
    model: model.name,
    fingerprint: `local|${model.name}|${model.name === "all-minilm-l6-v2" ? "" : model.weights}`,
    stride: 8,
    waitMs: () => (isLoaded && child !== undefined ? warmWaitMs : coldWaitMs),
    async embed(texts, kind, signal) {
      if (texts.length === 0) return [];
      if (signal?.aborted === true) throw new EmbedError("aborted", "stopped");
      const id = (lastId += 1);
      clearTimeout(idle);
      const { promise, resolve, reject } = Promise.withResolvers<readonly (readonly Float32Array[])[]>();
      const onAbort = (): void => reject(new EmbedError("aborted", "stopped"));
      signal?.addEventListener("abort", onAbort, { once: true });
      waiting.set(id, { resolve, reject });
      const asked = running();
      hold(asked, true);
      asked.send({ id, texts, isQuery: kind === "query" } satisfies WorkerRequest);
      const parts = await promise.finally(() => {
        signal?.removeEventListener("abort", onAbort);
        waiting.delete(id);
        rest();
      });
      return toVectors(
        parts.map((windows) => meanOf(windows.map((window) => toVector(window)))),
        texts.length,
      );
    },
    async close() {
      const gone = child;
      if (gone === undefined) return;
      const left = new Promise((resolve) => gone.once("exit", resolve));
      hold(gone, true);
      end();
      await left;
    },
  };
}

/** Gets no keys and may read only the model and the engine. */
function start(model: LocalModel): ChildProcess {
  const file = workerFile();
  const readable = [model.engine, model.folder, file.folder].map((folder) => `--allow-fs-read=${folder}/*`);
  const child = fork(file.path, [JSON.stringify(model)], {
    execArgv: ["--permission", ...readable, "--no-warnings", NO_DEBUGGER],
    env: {},
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  return child;
}

/** A pending request keeps the gateway process alive; an idle model does not. */
function hold(child: ChildProcess, isAwaited: boolean): void {
  if (isAwaited) child.ref();
  else child.unref();
  if (isAwaited) child.channel?.ref();
  else child.channel?.unref();
}

/** Starts at normal priority, because a caller waits for it, and then runs at low priority. */
function lower(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, 10);
  } catch (error) {
    // Some systems do not allow this; then it runs at normal priority.
    if (!(error instanceof Error)) throw error;
  }
}

/** A file of the bundle, or the source file when run from source. */
function workerFile(): { readonly path: string; readonly folder: string } {
  const [bundled, source] = ["./embed-worker.js", "./local-worker.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const path = bundled !== undefined && existsSync(bundled) ? bundled : (source ?? "");
  return { path, folder: fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "") };
}
