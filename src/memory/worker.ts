// The thread that owns the index files: one engine a file, opened with the first question about it.
import { parentPort } from "node:worker_threads";

import { HouseError } from "../core/error.ts";
import type { EngineCalls, EngineFailure, EngineReply, EngineRequest } from "./call.ts";
import { openEngine, type Engine } from "./engine.ts";
import type { IndexSettings } from "./settings.ts";

const engines = new Map<string, { readonly key: string; readonly engine: Engine }>();

parentPort?.on("message", (request: EngineRequest) => {
  void answer(request).then((reply) => parentPort?.postMessage(reply));
});

async function answer({ id, settings, method, args }: EngineRequest): Promise<EngineReply> {
  try {
    if (method === "close") {
      await closeAll();
      return { id, value: undefined };
    }
    const engine: EngineCalls = await engineOf(settings);
    const act = engine[method] as (...values: readonly unknown[]) => unknown;
    return { id, value: await act(...args) };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
}

/** Other settings for the same file: the old engine ends first, for there is one owner. */
async function engineOf(settings: IndexSettings): Promise<Engine> {
  const key = JSON.stringify(settings);
  const open = engines.get(settings.file);
  if (open?.key === key) return open.engine;
  if (open !== undefined) {
    engines.delete(settings.file);
    await open.engine.close();
    return engineOf(settings);
  }
  const engine = openEngine(settings, () => parentPort?.postMessage({ changed: settings.file } satisfies EngineReply));
  engines.set(settings.file, { key, engine });
  return engine;
}

async function closeAll(): Promise<void> {
  const all = [...engines.values()];
  engines.clear();
  await Promise.all(all.map(({ engine }) => engine.close()));
}

function failureOf(error: unknown): EngineFailure {
  if (error instanceof HouseError)
    return { code: error.code, message: error.message, hint: error.hint, details: error.details };
  return { code: undefined, message: error instanceof Error ? error.message : String(error) };
}
