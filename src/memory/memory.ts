// The contract of memory: what an agent wrote down, found again. Files are the truth; the index is a cache beside them.
import type { AgentId, SessionKey } from "../core/names.ts";

export type MemorySource = "memory" | "sessions";

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

export interface MemoryHit {
  /** Relative to the workspace where it is below it. */
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** 0 to 1, 1 best. */
  readonly score: number;
  readonly snippet: string;
  readonly source: MemorySource;
  readonly citation?: string;
}

export interface MemoryAnswer {
  readonly results: readonly MemoryHit[];
  /** `none`: words only. */
  readonly provider: string;
  readonly model?: string;
  /** Whoever was asked first and why somebody else answered. */
  readonly fallback?: { readonly from: string; readonly reason: string };
  readonly citations: "auto" | "on" | "off";
  /** What the person or the model should know: text search only, still indexing, … */
  readonly notes?: readonly string[];
  /** Changes are still being read in: the answer may miss them. */
  readonly indexing?: true;
  readonly disabled?: true;
  readonly error?: string;
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

export interface IndexReport {
  readonly files: number;
  readonly chunks: number;
  /** Files read in, and files taken out, by this call. */
  readonly changed: number;
  readonly removed: number;
  readonly skipped: readonly SkippedFile[];
  readonly ms: number;
}

export interface SkippedFile {
  readonly path: string;
  readonly why: string;
}

export interface MemoryStatus {
  readonly agent: AgentId;
  readonly enabled: boolean;
  /** Why not, and the key that changes it. */
  readonly reason?: string;
  readonly fix?: string;
  readonly backend: "builtin";
  readonly workspace: string;
  readonly file: string;
  readonly bytes: number;
  readonly files: number;
  readonly chunks: number;
  readonly sources: readonly MemorySource[];
  readonly extraPaths: readonly string[];
  readonly bySource: readonly { readonly source: MemorySource; readonly files: number; readonly chunks: number }[];
  readonly dirty: boolean;
  readonly indexing: boolean;
  readonly watching: boolean;
  readonly skipped: readonly SkippedFile[];
  readonly provider: string;
  readonly model?: string;
  readonly fallback?: { readonly from: string; readonly reason: string };
  readonly vectors: VectorStatus;
  /** Only when asked for deeply: the index checked, the provider tried. */
  readonly deep?: { readonly sound: boolean; readonly embeddings: { readonly ok: boolean; readonly error?: string } };
  readonly notes: readonly string[];
}

export interface VectorStatus {
  readonly enabled: boolean;
  /** `vec0`, or `js` where the extension is missing. */
  readonly engine?: string;
  readonly dimensions?: number;
  readonly ready: number;
  readonly missing: number;
}
