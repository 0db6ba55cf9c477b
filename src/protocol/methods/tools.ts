// Ours: the tools of an agent with the decision on each, one decision explained, one tool called, the journal read.
import { Type } from "../../core/schema.ts";
import { closed, method, nonEmpty, optional, returns } from "../method.ts";
import type { Block } from "../../core/message.ts";
import type { Caution } from "./system.ts";

const callOutcomes = ["started", "ok", "error", "refused", "aborted", "unknown"] as const;
const who = { agentId: optional(nonEmpty), model: optional(nonEmpty), sessionKey: optional(nonEmpty) };
const where = {
  channel: optional(nonEmpty),
  accountId: optional(nonEmpty),
  groupId: optional(nonEmpty),
  guildId: optional(nonEmpty),
  teamId: optional(nonEmpty),
  sender: optional(nonEmpty),
};

export const toolsCatalog = method("tools.catalog", "operator.read", Type.Object(who, closed), returns<ToolCatalog>());
export const toolsExplain = method(
  "tools.explain",
  "operator.read",
  Type.Object({ tool: nonEmpty, ...who, ...where, sandboxed: optional(Type.Boolean()) }, closed),
  returns<ToolExplanation>(),
);
export const toolsInvoke = method(
  "tools.invoke",
  "operator.write",
  Type.Object(
    {
      tool: nonEmpty,
      args: optional(Type.Record(Type.String(), Type.Unknown())),
      ...who,
      idempotencyKey: optional(nonEmpty),
    },
    closed,
  ),
  returns<{ readonly ok: true; readonly result: ToolOutcome }>(),
);
export const toolsJournal = method(
  "tools.journal",
  "operator.read",
  Type.Object(
    {
      limit: optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      tool: optional(nonEmpty),
      sessionKey: optional(nonEmpty),
      outcome: optional(Type.Unsafe<CallOutcome>(Type.Union(callOutcomes.map((entry) => Type.Literal(entry))))),
    },
    closed,
  ),
  returns<{ readonly entries: readonly JournalEntry[] }>(),
);

export interface ToolCatalog {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly agents: readonly string[];
  readonly model?: string;
  readonly tools: readonly CatalogRow[];
}

export interface CatalogRow {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly group?: string | undefined;
  readonly source: string;
  readonly built: boolean;
  readonly available: boolean;
  readonly unavailable?: Unavailable;
  readonly place?: ToolPlace;
  readonly allowed: boolean;
  readonly parameters: unknown;
  readonly decision: Decision;
  readonly explain: string;
}

export interface Unavailable {
  readonly reason: string;
  readonly fix: string;
}

/** Where calls of a tool act, and under which further rules. */
export interface ToolPlace {
  /** One word, for programs. */
  readonly runs: string;
  readonly summary: string;
  readonly rules: readonly string[];
  readonly caution?: Caution;
}

export interface ToolExplanation {
  readonly decision: Decision;
  readonly unavailable?: Unavailable;
  readonly place?: ToolPlace;
  readonly text: string;
}

/** The decision of policy on one tool: plain JSON, the same for the same input. */
export interface Decision<Layer extends string = string> {
  readonly tool: string;
  readonly allowed: boolean;
  readonly layers: readonly LayerVerdict<Layer>[];
  /** The first layer that blocked. Absent when allowed. */
  readonly decidedBy?: {
    readonly layer: Layer;
    readonly path: string;
    readonly entry?: string;
    readonly reason: string;
  };
  readonly fix?: PolicyFix;
  readonly warnings: readonly string[];
}

export interface LayerVerdict<Layer extends string = string> {
  readonly layer: Layer;
  /** The config object or list this layer read, when there is one. */
  readonly path?: string;
  readonly verdict: "pass" | "block" | "not-set" | "not-applicable" | "ignored";
  readonly rule?: PolicyRule;
  readonly note?: string;
}

export interface PolicyRule {
  /** Config path such as `tools.deny[0]`, or `built-in` for a rule that is not in the config. */
  readonly path: string;
  readonly entry: string;
}

export interface PolicyFix {
  /** One sentence. */
  readonly summary: string;
  /** Applied together they reverse the decision. Empty when no edit of the config can. */
  readonly edits: readonly PolicyEdit[];
  /** The touched keys after the edits; no value means the key is removed. */
  readonly after: readonly { readonly path: string; readonly value?: string | readonly string[] }[];
  readonly command?: string;
}

/** `add` and `remove` change one entry of the list at `path`; `remove` without a value removes the key; `set` replaces. */
export interface PolicyEdit {
  readonly op: "add" | "remove" | "set";
  readonly path: string;
  readonly value?: string | readonly string[];
}

/** `content` is for the model, `details` for programs. */
export interface ToolOutcome<D = unknown> {
  readonly content: readonly Block[];
  readonly details?: D;
  /** The call worked, but what it started failed: the model sees an error. */
  readonly isError?: boolean;
  /** What is neither text nor a picture, for programs; the model reads about it in `content`. */
  readonly attachments?: readonly Attachment[];
}

/** In the shapes of the Model Context Protocol; `data` and `blob` are base64. */
export type Attachment =
  | { readonly type: "audio"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource";
      readonly resource: {
        readonly uri: string;
        readonly mimeType?: string;
        readonly text?: string;
        readonly blob?: string;
      };
    }
  | { readonly type: "resource_link"; readonly uri: string; readonly name: string; readonly mimeType?: string };

export type CallOutcome = (typeof callOutcomes)[number];

/** One tool call: who, what, the decision and how it ended. Arguments and results are bounded and redacted. */
export interface JournalEntry {
  readonly id: string;
  readonly at: number;
  readonly tool: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly caller: string;
  /** The run it belongs to, or its own id; absent in records from before turns were noted. */
  readonly turn?: string;
  readonly outcome: CallOutcome;
  readonly durationMs?: number;
  readonly intent?: unknown;
  readonly args?: unknown;
  readonly decision?: unknown;
  readonly error?: unknown;
}
