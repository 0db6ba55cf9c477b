// The index thread: owns the index files, one engine per file, opened with the first call.
import { parentPort } from "node:worker_threads";

import { OpenClawError } from "../core/error.ts";
import type { EngineCalls, EngineFailure, EngineReply, EngineRequest } from "./engine-messages.ts";
import { openEngine, type Engine } from "./engine.ts";
import type { IndexSettings } from "./settings.ts";

interface Open {
  readonly key: string;
  readonly engine: Promise<Engine>;
  /** Calls in progress; they end before the engine closes. */
  readonly asked: Set<Promise<unknown>>;
}

const engines = new Map<string, Open>();

parentPort?.on("message", (request: EngineRequest) => {
  void answer(request).then((reply) => parentPort?.postMessage(reply));
});

async function answer({ id, settings, method, args }: EngineRequest): Promise<EngineReply> {
  try {
    if (method === "close") {
      const all = [...engines.values()];
      engines.clear();
      await Promise.all(all.map(close));
      return { id, value: undefined };
    }
    const open = openFor(settings);
    const asked = open.engine.then((engine: EngineCalls) => {
      const act = engine[method] as (...values: readonly unknown[]) => unknown;
      return act.apply(engine, [...args]);
    });
    open.asked.add(asked);
    return { id, value: await asked.finally(() => open.asked.delete(asked)) };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
}

/** With new settings for the same file the old engine ends first, because a file has one owner. */
function openFor(settings: IndexSettings): Open {
  const { file } = settings;
  const key = JSON.stringify(settings);
  const known = engines.get(file);
  if (known?.key === key) return known;
  const before = known === undefined ? Promise.resolve() : close(known);
  const open: Open = { key, engine: before.then(() => openEngine(settings, () => tellChange(file))), asked: new Set() };
  engines.set(file, open);
  // An engine that failed to open is opened again with the next call.
  open.engine.catch(() => {
    if (engines.get(file) === open) engines.delete(file);
  });
  return open;
}

async function close({ engine, asked }: Open): Promise<void> {
  const opened = await engine.catch(() => undefined);
  opened?.stop();
  await Promise.allSettled(asked);
  await opened?.close();
}

function tellChange(file: string): void {
  parentPort?.postMessage({ changed: file } satisfies EngineReply);
}

function failureOf(error: unknown): EngineFailure {
  if (error instanceof OpenClawError)
    return { code: error.code, message: error.message, hint: error.hint, details: error.details };
  return { code: undefined, message: error instanceof Error ? error.message : String(error) };
}
