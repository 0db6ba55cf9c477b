// Memory over the wire: its state, indexing, searching. Ours.
import type { AgentId } from "../../core/names.ts";
import { Type } from "../../core/schema.ts";
import { closed, method, nonEmpty, optional, returns } from "../method.ts";

export const memoryStatus = method(
  "memory.status",
  "operator.read",
  Type.Object({ agentId: optional(nonEmpty), deep: optional(Type.Boolean()) }, closed),
  returns<MemoryStatus>(),
  { announced: false },
);

export const memoryIndex = method(
  "memory.index",
  "operator.write",
  Type.Object({ agentId: optional(nonEmpty), force: optional(Type.Boolean()) }, closed),
  returns<IndexReport>(),
  { announced: false },
);

export const memorySearch = method(
  "memory.search",
  "operator.read",
  Type.Object(
    {
      agentId: optional(nonEmpty),
      query: Type.String({ minLength: 1, maxLength: 8000 }),
      maxResults: optional(Type.Integer({ minimum: 1, maximum: 50 })),
      minScore: optional(Type.Number({ minimum: 0, maximum: 1 })),
    },
    closed,
  ),
  returns<MemoryAnswer>(),
  { announced: false },
);

export type MemorySource = "memory" | "sessions";

export interface MemoryHit {
  /** Relative to the workspace when it is inside it. */
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
  /** `none`: text search only. */
  readonly provider: string;
  readonly model?: string;
  /** The provider that was tried first and why another one answered. */
  readonly fallback?: { readonly from: string; readonly reason: string };
  readonly citations: "auto" | "on" | "off";
  /** What limits the answer: text search only, still indexing, … */
  readonly notes?: readonly string[];
  /** Changes are still being indexed: the answer may miss them. */
  readonly indexing?: true;
  readonly disabled?: true;
  readonly error?: string;
}

export interface IndexReport {
  readonly files: number;
  readonly chunks: number;
  /** Files indexed and files removed by this call. */
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
  /** Why it is disabled, and the config key that changes it. */
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
  /** Only with `deep`: the index was checked and the provider tried. */
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
