// Memory at work in the main thread: settings of now, embeddings, sessions and the index thread brought together.
import type { AgentId } from "../core/names.ts";
import { OpenClawError } from "../core/error.ts";
import type { Log } from "../base/log.ts";
import type { Paths } from "../base/paths.ts";
import { mainKeyOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { hitsOf, notesOf } from "./answer.ts";
import { audienceOf, isGroup, isPrivate } from "./audience.ts";
import type { Filler, OpenedEmbedder, OpenEmbedder, VectorOptions } from "./embed/embedder.ts";
import { createFiller } from "./embed/filler.ts";
import type { EngineAnswer, EngineQuery } from "./engine.ts";
import type { Memory, MemoryAnswer, MemoryQuery } from "./memory.ts";
import { readMemory } from "./read.ts";
import { closedBy, indexPart, memorySettings, type MemorySettings } from "./settings.ts";
import { nothingThere, toStatus, tryEmbedder, wordsOf } from "./status.ts";
import { createIndexThread } from "./thread.ts";
import { readInTalk, type Transcripts } from "./transcripts.ts";

/** A question is asked by words alone when its vector takes longer. */
const EMBED_WAIT_MS = 1500;
const SLOW_REST_MS = 15_000;
const TOO_LONG = "the embeddings took too long";
const MAX_RESULTS = 50;
/** Below this a nearest neighbour is just whatever lies nearest. */
const MIN_HYBRID_SCORE = 0.2;

export interface MemoryDeps {
  readonly config: () => Config;
  readonly paths: Paths;
  readonly log: Log;
  /** Undefined: words only. */
  readonly embedder?: OpenEmbedder;
  readonly transcripts?: Transcripts;
}

interface AgentState {
  readonly settings: MemorySettings;
  readonly filler: Filler;
  talk: Promise<unknown> | undefined;
  /** Until then no question waits for its vector: the last one waited in vain. */
  slowUntil: number;
}

export function openMemory({ config, paths, log, embedder, transcripts }: MemoryDeps): Memory {
  const thread = createIndexThread((file) => {
    for (const { settings, filler } of states.values()) if (settings.file === file) filler.poke();
  });
  const states = new Map<AgentId, AgentState>();
  let isBackendSaid = false;

  const openedFor = async (agent: AgentId): Promise<OpenedEmbedder> =>
    embedder === undefined ? { reason: "this process makes no embeddings" } : embedder(agent);

  const stateOf = (agent: AgentId): AgentState => {
    sayBackend();
    const settings = memorySettings(config(), agent, paths);
    const known = states.get(agent);
    if (known !== undefined && JSON.stringify(known.settings) === JSON.stringify(settings)) return known;
    known?.filler.close().catch((error: unknown) => log.warn("vectors: the old job did not end", { error }));
    const port = (fingerprint: string) => vectorOptions(settings, fingerprint);
    const filler = createFiller({
      open: () => openedFor(agent),
      log,
      port: {
        pending: (fingerprint, limit) => thread.ask(indexPart(settings), "pending", port(fingerprint), limit),
        put: (fingerprint, rows) => thread.ask(indexPart(settings), "put", port(fingerprint), rows),
      },
    });
    const state: AgentState = { settings, filler, talk: undefined, slowUntil: 0 };
    states.set(agent, state);
    return state;
  };

  const sayBackend = (): void => {
    if (isBackendSaid || config().memory?.backend !== "qmd") return;
    isBackendSaid = true;
    log.warn("memory.backend qmd is not there; the built-in index answers", {
      hint: "openclaw config unset memory.backend",
    });
  };

  /** One at a time; without `delta` however little is new. */
  const readTalk = (state: AgentState, everything: boolean): Promise<unknown> => {
    const { settings } = state;
    if (transcripts === undefined || !settings.sources.includes("sessions")) return Promise.resolve();
    if (state.talk !== undefined && !everything) return state.talk;
    const index = indexPart(settings);
    const job = readInTalk(
      transcripts,
      settings.agent,
      {
        documents: () => thread.ask(index, "documents", "sessions"),
        document: (document) => thread.ask(index, "document", document),
        forget: (path) => thread.ask(index, "forget", path),
      },
      everything ? undefined : settings.sessions,
    ).finally(() => {
      state.talk = undefined;
    });
    state.talk = job;
    return job;
  };

  const inBackground = (work: Promise<unknown>, what: string): void => {
    work.catch((error: unknown) => log.warn(`memory: ${what}`, { error: String(error) }));
  };

  const answerOf = async (query: MemoryQuery): Promise<MemoryAnswer> => {
    const state = stateOf(query.agent);
    const { settings } = state;
    const mainKey = mainKeyOf(config());
    const maxResults = Math.min(MAX_RESULTS, Math.max(1, query.maxResults ?? settings.maxResults));
    if (settings.onSearch) inBackground(readTalk(state, false), "transcripts were not read in");
    const found = await find(state, query, {
      query: query.query,
      limit: maxResults * settings.hybrid.candidateMultiplier,
      audience: audienceOf(isPrivate(query.session, mainKey), settings.sources),
      fresh: settings.onSearch,
      weights: { text: settings.hybrid.textWeight, vector: settings.hybrid.vectorWeight },
    });
    const { answer, opened, wordsOnly } = found;
    const minScore = query.minScore ?? settings.minScore ?? (wordsOnly === undefined ? MIN_HYBRID_SCORE : 0);
    const isCited = settings.citations === "on" || (settings.citations === "auto" && !isGroup(query.session, mainKey));
    return {
      results: hitsOf(answer.hits, { query: query.query, minScore, maxResults, isCited }),
      ...(wordsOnly === undefined && opened.embedder !== undefined
        ? { provider: opened.embedder.provider, model: opened.embedder.model }
        : { provider: "none" }),
      ...(opened.fallback === undefined ? {} : { fallback: opened.fallback }),
      citations: settings.citations,
      ...(answer.indexing ? { indexing: true as const } : {}),
      ...notesOf(answer, wordsOnly, isCited),
    };
  };

  /** Words answer at once; meaning joins when pieces have vectors and the question gets its own in time. */
  const find = async (state: AgentState, { query, waitMs, signal }: MemoryQuery, ask: EngineQuery): Promise<Found> => {
    const { settings, filler } = state;
    const index = indexPart(settings);
    const opened = settings.hybrid.enabled
      ? await openedFor(settings.agent)
      : { reason: "memorySearch.query.hybrid.enabled is false" };
    if (opened.embedder === undefined)
      return { answer: await thread.ask(index, "search", ask), opened, wordsOnly: opened.reason ?? "no embeddings" };
    const vectors = vectorOptions(settings, opened.embedder.fingerprint);
    const words = await thread.ask(index, "search", { ...ask, vectors });
    // What an earlier process left without vectors gets them, too.
    filler.poke();
    if (!words.hasVectors)
      return { answer: words, opened, wordsOnly: filler.problem() ?? "vectors are still being made" };
    if (performance.now() < state.slowUntil) return { answer: words, opened, wordsOnly: TOO_LONG };
    const ownMs = opened.embedder.waitMs?.();
    const slot = AbortSignal.timeout(waitMs ?? ownMs ?? EMBED_WAIT_MS);
    try {
      const until = signal === undefined ? slot : AbortSignal.any([slot, signal]);
      const [vector] = await opened.embedder.embed([query], "query", until);
      if (vector === undefined) return { answer: words, opened, wordsOnly: "the question got no vector" };
      return { answer: await thread.ask(index, "search", { ...ask, fresh: false, vectors, vector }), opened };
    } catch (error) {
      signal?.throwIfAborted();
      // A model that is being loaded will be there for the next question.
      if (slot.aborted && ownMs === undefined) state.slowUntil = performance.now() + SLOW_REST_MS;
      return { answer: words, opened, wordsOnly: slot.aborted ? TOO_LONG : wordsOf(error) };
    }
  };

  return {
    async search(query) {
      const citations = config().memory?.citations ?? "auto";
      const closed = closedBy(config(), query.agent);
      if (closed !== undefined)
        return { results: [], provider: "none", citations, disabled: true, error: `${closed.reason}; ${closed.fix}` };
      try {
        return await answerOf(query);
      } catch (error) {
        query.signal?.throwIfAborted();
        // A question that cannot be asked is the asker's mistake, everything else is ours.
        if (error instanceof OpenClawError && error.code === "memory.query-too-long") throw error;
        log.warn("memory search failed", { error: String(error) });
        return { results: [], provider: "none", citations, disabled: true, error: wordsOf(error) };
      }
    },
    async read(request) {
      const isOwners = isPrivate(request.session, mainKeyOf(config()));
      return readMemory(memorySettings(config(), request.agent, paths), request, isOwners);
    },
    async status(agent, { deep = false } = {}) {
      const closed = closedBy(config(), agent);
      const settings = memorySettings(config(), agent, paths);
      // What is closed is not opened just to be looked at.
      if (closed !== undefined) return toStatus(settings, nothingThere, {}, { enabled: false, ...closed, notes: [] });
      const opened = await openedFor(agent);
      const vectors =
        opened.embedder === undefined ? {} : { vectors: vectorOptions(settings, opened.embedder.fingerprint) };
      const status = await thread.ask(indexPart(settings), "status", { deep, ...vectors });
      const tried = deep ? { deep: { sound: status.sound ?? false, embeddings: await tryEmbedder(opened) } } : {};
      const problem = states.get(agent)?.filler.problem();
      return toStatus(settings, status, opened, {
        ...tried,
        enabled: true,
        notes: [
          ...(config().memory?.backend === "qmd"
            ? ["memory.backend qmd is not there; the built-in index answers"]
            : []),
          ...(status.failure === undefined ? [] : [`last look at the notes failed: ${status.failure}`]),
          ...(problem === undefined || problem === opened.reason ? [] : [`vectors: ${problem}`]),
        ],
      });
    },
    async index(agent, { force = false, vectors = false } = {}) {
      const state = stateOf(agent);
      const opened = await openedFor(agent);
      const report = await thread.ask(indexPart(state.settings), "sync", {
        force,
        ...(opened.embedder === undefined
          ? {}
          : { vectors: vectorOptions(state.settings, opened.embedder.fingerprint) }),
      });
      await readTalk(state, true);
      state.filler.poke();
      if (vectors) await state.filler.settled();
      return report;
    },
    begin(agent) {
      if (closedBy(config(), agent) !== undefined) return;
      const state = stateOf(agent);
      if (!state.settings.onSessionStart) return;
      inBackground(thread.ask(indexPart(state.settings), "begin"), "notes were not read in");
      inBackground(readTalk(state, false), "transcripts were not read in");
    },
    async close() {
      await Promise.all([...states.values()].map(({ filler }) => filler.close()));
      await thread.close();
    },
  };
}

interface Found {
  readonly answer: EngineAnswer;
  readonly opened: OpenedEmbedder;
  /** Why meaning had no part in it. */
  readonly wordsOnly?: string;
}

function vectorOptions({ vector }: MemorySettings, fingerprint: string): VectorOptions {
  const { useExtension, extensionPath, maxCached } = vector;
  return { fingerprint, useExtension, maxCached, ...(extensionPath === undefined ? {} : { extensionPath }) };
}
