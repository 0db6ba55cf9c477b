// The contract of memory: what an agent wrote down, found again. Files are the truth; the index is a cache beside them.
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
  /** Never throws for what is missing or broken: then `disabled` and `error` say so. Never waits long for indexing. */
  search(query: MemoryQuery): Promise<MemoryAnswer>;
  /** Lines of one memory file. Throws `memory.outside` and `fs.*` for paths that are none; a missing file is empty text. */
  read(request: MemoryRead): Promise<MemoryText>;
  status(agent: AgentId, wish?: { readonly deep?: boolean }): Promise<MemoryStatus>;
  /** Brings the index up to date and waits for it; `force` builds it anew beside the old one, then switches. */
  index(agent: AgentId, wish?: IndexRequest): Promise<IndexReport>;
  /** A session of this agent began: indexing starts in the background, nobody waits. */
  begin(agent: AgentId): void;
  close(): Promise<void>;
}

export interface MemoryQuery {
  readonly agent: AgentId;
  readonly query: string;
  /** Who asks: groups do not see what is for the private chat, and `auto` citations depend on it. */
  readonly session?: SessionKey;
  readonly maxResults?: number;
  readonly minScore?: number;
  /** How long the question may wait for its vector; then words alone answer. */
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
  /** Also wait until every piece has its vector. */
  readonly vectors?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}
