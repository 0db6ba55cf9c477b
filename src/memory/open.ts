// Memory in the main thread: connects settings, embeddings, transcripts and the index thread.
import type { AgentId } from "../core/names.ts";
import { OpenClawError } from "../core/error.ts";
import type { Log } from "../base/log.ts";
import type { Paths } from "../base/paths.ts";
import { mainKeyOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { hitsOf, notesOf } from "./answer.ts";
import { audienceOf, isGroup, isPrivate } from "./audience.ts";
import type { Embedder, Filler, OpenedEmbedder, OpenEmbedder, VectorOptions } from "./embed/embedder.ts";
import { createFiller } from "./embed/filler.ts";
import type { EngineAnswer, EngineQuery } from "./engine.ts";
import type {
  IndexReport,
  IndexRequest,
  Memory,
  MemoryAnswer,
  MemoryQuery,
  MemoryRead,
  MemoryStatus,
  MemoryText,
} from "./memory.ts";
import { readMemory } from "./read.ts";
import { disabledBy, indexPart, memorySettings, type MemorySettings } from "./settings.ts";
import { emptyStatus, toStatus, tryEmbedder, errorText } from "./status.ts";
import { createIndexThread, type IndexThread } from "./index-thread.ts";
import { indexTranscripts, type Transcripts } from "./transcripts.ts";

/** A search uses text alone when the vector of its query takes longer. */
const EMBED_WAIT_MS = 1500;
/** After a timeout, searches do not wait for vectors for this long. */
const SLOW_REST_MS = 15_000;
const TOO_LONG = "the embedding request took too long";
const NO_QMD = "memory.backend qmd is not built yet; the built-in index is used";
const MAX_RESULTS = 50;
/** Below this score a nearest neighbor is usually unrelated. */
const MIN_HYBRID_SCORE = 0.2;

export interface MemoryDeps {
  readonly config: () => Config;
  readonly paths: Paths;
  readonly log: Log;
  /** Undefined: text search only. */
  readonly embedder?: OpenEmbedder;
  readonly transcripts?: Transcripts;
}

interface AgentState {
  readonly settings: MemorySettings;
  readonly filler: Filler;
  /** Transcripts that are being indexed. */
  transcripts: Promise<unknown> | undefined;
  /** Until then no search waits for its vector, because the last one timed out. */
  slowUntil: number;
}

interface Found {
  readonly answer: EngineAnswer;
  readonly opened: OpenedEmbedder;
  /** Why semantic search was not used. */
  readonly textOnly?: string;
}

export function openMemory(deps: MemoryDeps): Memory {
  return new IndexedMemory(deps);
}

class IndexedMemory implements Memory {
  readonly #deps: MemoryDeps;
  readonly #thread: IndexThread;
  readonly #states = new Map<AgentId, AgentState>();
  #hasWarnedOfQmd = false;

  constructor(deps: MemoryDeps) {
    this.#deps = deps;
    this.#thread = createIndexThread((file) => {
      for (const { settings, filler } of this.#states.values()) if (settings.file === file) filler.poke();
    });
  }

  async search(query: MemoryQuery): Promise<MemoryAnswer> {
    const config = this.#deps.config();
    const citations = config.memory?.citations ?? "auto";
    const disabled = disabledBy(config, query.agent);
    if (disabled !== undefined)
      return { results: [], provider: "none", citations, disabled: true, error: `${disabled.reason}; ${disabled.fix}` };
    try {
      return await this.#answer(query);
    } catch (error) {
      query.signal?.throwIfAborted();
      // The caller can correct its query; every other failure is reported as a disabled memory.
      if (error instanceof OpenClawError && error.code === "memory.query-too-long") throw error;
      this.#deps.log.warn("memory search failed", { error: String(error) });
      return { results: [], provider: "none", citations, disabled: true, error: errorText(error) };
    }
  }

  async read(request: MemoryRead): Promise<MemoryText> {
    const config = this.#deps.config();
    const isOwnerChat = isPrivate(request.session, mainKeyOf(config));
    return readMemory(memorySettings(config, request.agent, this.#deps.paths), request, isOwnerChat);
  }

  async status(agent: AgentId, { deep = false }: { readonly deep?: boolean } = {}): Promise<MemoryStatus> {
    const config = this.#deps.config();
    const disabled = disabledBy(config, agent);
    const settings = memorySettings(config, agent, this.#deps.paths);
    // A disabled index is not opened only to show its status.
    if (disabled !== undefined) return toStatus(settings, emptyStatus, {}, { enabled: false, ...disabled, notes: [] });
    const opened = await this.#openEmbedder(agent);
    const status = await this.#thread.ask(indexPart(settings), "status", { deep, ...vectorsFor(settings, opened) });
    const tried = deep ? { deep: { sound: status.sound ?? false, embeddings: await tryEmbedder(opened) } } : {};
    const problem = this.#states.get(agent)?.filler.problem();
    return toStatus(settings, status, opened, {
      ...tried,
      enabled: true,
      notes: [
        ...(config.memory?.backend === "qmd" ? [NO_QMD] : []),
        ...(status.failure === undefined ? [] : [`the last indexing failed: ${status.failure}`]),
        ...(problem === undefined || problem === opened.reason ? [] : [`vectors: ${problem}`]),
      ],
    });
  }

  async index(agent: AgentId, { force = false, vectors = false }: IndexRequest = {}): Promise<IndexReport> {
    const state = this.#stateOf(agent);
    const opened = await this.#openEmbedder(agent);
    const report = await this.#thread.ask(indexPart(state.settings), "sync", {
      force,
      ...vectorsFor(state.settings, opened),
    });
    await this.#indexTranscripts(state, true);
    state.filler.poke();
    if (vectors) await state.filler.settled();
    return report;
  }

  begin(agent: AgentId): void {
    if (disabledBy(this.#deps.config(), agent) !== undefined) return;
    const state = this.#stateOf(agent);
    if (!state.settings.onSessionStart) return;
    this.#inBackground(this.#thread.ask(indexPart(state.settings), "begin"), "indexing notes failed");
    this.#inBackground(this.#indexTranscripts(state, false), "indexing transcripts failed");
  }

  async close(): Promise<void> {
    await Promise.all([...this.#states.values()].map(({ filler }) => filler.close()));
    await this.#thread.close();
  }

  async #answer(query: MemoryQuery): Promise<MemoryAnswer> {
    const state = this.#stateOf(query.agent);
    const { settings } = state;
    const mainKey = mainKeyOf(this.#deps.config());
    const maxResults = Math.min(MAX_RESULTS, Math.max(1, query.maxResults ?? settings.maxResults));
    if (settings.onSearch) this.#inBackground(this.#indexTranscripts(state, false), "indexing transcripts failed");
    const { answer, opened, textOnly } = await this.#find(state, query, {
      query: query.query,
      limit: maxResults * settings.hybrid.candidateMultiplier,
      audience: audienceOf(isPrivate(query.session, mainKey), settings.sources),
      fresh: settings.onSearch,
      weights: { text: settings.hybrid.textWeight, vector: settings.hybrid.vectorWeight },
    });
    const minScore = query.minScore ?? settings.minScore ?? (textOnly === undefined ? MIN_HYBRID_SCORE : 0);
    const isCited = settings.citations === "on" || (settings.citations === "auto" && !isGroup(query.session, mainKey));
    return {
      results: hitsOf(answer.hits, { query: query.query, minScore, maxResults, isCited }),
      ...(textOnly === undefined && opened.embedder !== undefined
        ? { provider: opened.embedder.provider, model: opened.embedder.model }
        : { provider: "none" }),
      ...(opened.fallback === undefined ? {} : { fallback: opened.fallback }),
      citations: settings.citations,
      ...(answer.indexing ? { indexing: true as const } : {}),
      ...notesOf(answer, textOnly, isCited),
    };
  }

  /** Text search answers immediately; semantic search joins when chunks have vectors and the query gets its own in time. */
  async #find(state: AgentState, query: MemoryQuery, request: EngineQuery): Promise<Found> {
    const { settings, filler } = state;
    const index = indexPart(settings);
    const opened = settings.hybrid.enabled
      ? await this.#openEmbedder(settings.agent)
      : { reason: "memorySearch.query.hybrid.enabled is false" };
    if (opened.embedder === undefined)
      return {
        answer: await this.#thread.ask(index, "search", request),
        opened,
        textOnly: opened.reason ?? "no embeddings",
      };
    const vectors = vectorOptions(settings, opened.embedder.fingerprint);
    const byText = await this.#thread.ask(index, "search", { ...request, vectors });
    // Chunks that an earlier process left without vectors get them, too.
    filler.poke();
    if (!byText.hasVectors)
      return { answer: byText, opened, textOnly: filler.problem() ?? "vectors are still being computed" };
    if (performance.now() < state.slowUntil) return { answer: byText, opened, textOnly: TOO_LONG };
    const embedded = await embedQuery(state, query, opened.embedder);
    if ("textOnly" in embedded) return { answer: byText, opened, textOnly: embedded.textOnly };
    const hybrid = { ...request, fresh: false, vectors, vector: embedded.vector };
    try {
      return { answer: await this.#thread.ask(index, "search", hybrid), opened };
    } catch (error) {
      query.signal?.throwIfAborted();
      return { answer: byText, opened, textOnly: errorText(error) };
    }
  }

  /** One at a time; `everything` also indexes transcripts with few new messages. */
  #indexTranscripts(state: AgentState, everything: boolean): Promise<unknown> {
    const { settings } = state;
    const { transcripts } = this.#deps;
    if (transcripts === undefined || !settings.sources.includes("sessions")) return Promise.resolve();
    if (state.transcripts !== undefined && !everything) return state.transcripts;
    const index = indexPart(settings);
    const indexing = indexTranscripts(
      transcripts,
      settings.agent,
      {
        documents: () => this.#thread.ask(index, "documents", "sessions"),
        document: (document) => this.#thread.ask(index, "document", document),
        forget: (path) => this.#thread.ask(index, "forget", path),
      },
      everything ? undefined : settings.sessions,
    ).finally(() => {
      state.transcripts = undefined;
    });
    state.transcripts = indexing;
    return indexing;
  }

  /** A changed config gives the agent a new state. */
  #stateOf(agent: AgentId): AgentState {
    this.#warnOfQmd();
    const { config, paths, log } = this.#deps;
    const settings = memorySettings(config(), agent, paths);
    const known = this.#states.get(agent);
    if (known !== undefined && JSON.stringify(known.settings) === JSON.stringify(settings)) return known;
    known?.filler.close().catch((error: unknown) => log.warn("vectors: the previous filler did not stop", { error }));
    const index = indexPart(settings);
    const filler = createFiller({
      open: () => this.#openEmbedder(agent),
      log,
      port: {
        pending: (fingerprint, limit) =>
          this.#thread.ask(index, "pending", vectorOptions(settings, fingerprint), limit),
        put: (fingerprint, rows) => this.#thread.ask(index, "put", vectorOptions(settings, fingerprint), rows),
      },
    });
    const state: AgentState = { settings, filler, transcripts: undefined, slowUntil: 0 };
    this.#states.set(agent, state);
    return state;
  }

  async #openEmbedder(agent: AgentId): Promise<OpenedEmbedder> {
    const { embedder } = this.#deps;
    return embedder === undefined ? { reason: "this process makes no embeddings" } : embedder(agent);
  }

  #warnOfQmd(): void {
    if (this.#hasWarnedOfQmd || this.#deps.config().memory?.backend !== "qmd") return;
    this.#hasWarnedOfQmd = true;
    this.#deps.log.warn(NO_QMD, { hint: "openclaw config unset memory.backend" });
  }

  #inBackground(work: Promise<unknown>, failure: string): void {
    work.catch((error: unknown) => this.#deps.log.warn(`memory: ${failure}`, { error: String(error) }));
  }
}

async function embedQuery(
  state: AgentState,
  { query, waitMs, signal }: MemoryQuery,
  embedder: Embedder,
): Promise<{ readonly vector: Float32Array } | { readonly textOnly: string }> {
  const ownMs = embedder.waitMs?.();
  const timeout = AbortSignal.timeout(waitMs ?? ownMs ?? EMBED_WAIT_MS);
  try {
    const until = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    const [vector] = await embedder.embed([query], "query", until);
    return vector === undefined ? { textOnly: "the query got no vector" } : { vector };
  } catch (error) {
    signal?.throwIfAborted();
    // A local model that is still loading will be ready for the next search.
    if (timeout.aborted && ownMs === undefined) state.slowUntil = performance.now() + SLOW_REST_MS;
    return { textOnly: timeout.aborted ? TOO_LONG : errorText(error) };
  }
}

function vectorsFor(settings: MemorySettings, { embedder }: OpenedEmbedder): { readonly vectors?: VectorOptions } {
  return embedder === undefined ? {} : { vectors: vectorOptions(settings, embedder.fingerprint) };
}

function vectorOptions({ vector }: MemorySettings, fingerprint: string): VectorOptions {
  const { useExtension, extensionPath, maxCached } = vector;
  return { fingerprint, useExtension, maxCached, ...(extensionPath === undefined ? {} : { extensionPath }) };
}
