// Builds the status of one agent's memory from the index and its embedder.
import { OpenClawError } from "../core/error.ts";
import type { OpenedEmbedder } from "./embed/embedder.ts";
import type { EngineStatus } from "./engine.ts";
import type { MemoryStatus } from "./memory.ts";
import type { MemorySettings } from "./settings.ts";

export const emptyStatus: EngineStatus = {
  bytes: 0,
  bySource: [],
  dirty: false,
  indexing: false,
  watching: false,
  skipped: [],
};

export function toStatus(
  settings: MemorySettings,
  status: EngineStatus,
  opened: OpenedEmbedder,
  rest: Pick<MemoryStatus, "enabled" | "notes"> & Partial<Pick<MemoryStatus, "deep" | "reason" | "fix">>,
): MemoryStatus {
  const { agent, file, workspace, sources, extraPaths } = settings;
  const sum = (key: "files" | "chunks"): number => status.bySource.reduce((total, row) => total + row[key], 0);
  return {
    agent,
    backend: "builtin",
    workspace,
    file,
    bytes: status.bytes,
    files: sum("files"),
    chunks: sum("chunks"),
    sources,
    extraPaths,
    bySource: status.bySource,
    dirty: status.dirty,
    indexing: status.indexing,
    watching: status.watching,
    skipped: status.skipped,
    provider: opened.embedder?.provider ?? "none",
    ...(opened.embedder === undefined ? {} : { model: opened.embedder.model }),
    ...(opened.fallback === undefined ? {} : { fallback: opened.fallback }),
    vectors: status.vectors ?? { enabled: false, ready: 0, missing: sum("chunks") },
    ...rest,
  };
}

export async function tryEmbedder({ embedder, reason }: OpenedEmbedder): Promise<{ ok: boolean; error?: string }> {
  if (embedder === undefined) return { ok: false, error: reason ?? "no embeddings" };
  try {
    await embedder.embed(["memory"], "query", AbortSignal.timeout(20_000));
    return { ok: true };
  } catch (error) {
    return { ok: false, error: errorText(error) };
  }
}

export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof OpenClawError && error.hint !== undefined ? `${error.message}; ${error.hint}` : error.message;
}
