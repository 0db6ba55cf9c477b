// The contract of memory: searches and reads an agent's notes. The files are the source; the index is a cache.
import type { AgentId, SessionKey } from "../core/names.ts";

import type { IndexReport, MemoryAnswer, MemoryStatus } from "../protocol/methods/memory.ts";

export type {
  IndexReport,
  MemoryAnswer,
  MemoryHit,
  MemorySource,
  MemoryStatus,
  SkippedFile,
  VectorStatus,
} from "../protocol/methods/memory.ts";

export interface Memory {
  /** Reports missing or damaged parts in `disabled` and `error` instead of throwing. Never waits long for indexing. */
  search(query: MemoryQuery): Promise<MemoryAnswer>;
  /** Lines of one memory file. Throws `memory.outside` and `fs.*` for other paths; a missing file is empty text. */
  read(request: MemoryRead): Promise<MemoryText>;
  status(agent: AgentId, request?: { readonly deep?: boolean }): Promise<MemoryStatus>;
  /** Updates the index and waits for it; `force` builds a new index beside the old one, then switches. */
  index(agent: AgentId, request?: IndexRequest): Promise<IndexReport>;
  /** A session of this agent started: indexing starts in the background. */
  begin(agent: AgentId): void;
  close(): Promise<void>;
}

export interface MemoryQuery {
  readonly agent: AgentId;
  readonly query: string;
  /** The asking session: groups do not see private notes, and `auto` citations depend on it. */
  readonly session?: SessionKey;
  readonly maxResults?: number;
  readonly minScore?: number;
  /** How long the query may wait for its vector; after that, text search alone answers. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface MemoryRead {
  readonly agent: AgentId;
  readonly path: string;
  readonly session?: SessionKey;
  /** First line, from 1. */
  readonly from?: number;
  readonly lines?: number;
}

export interface MemoryText {
  readonly path: string;
  readonly text: string;
  readonly from?: number;
  readonly lines?: number;
}

export interface IndexRequest {
  readonly force?: boolean;
  /** Also wait until every chunk has its vector. */
  readonly vectors?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}
