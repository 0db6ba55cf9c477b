// An approval as clients see it. Types only: the page imports this file too.

export type ApprovalKind = "exec" | "config" | "node";
export type ApprovalDecision = "allow-once" | "allow-always" | "deny";

/** What a person sees before answering; invisible and direction-changing characters are escaped. */
export interface ApprovalCard {
  readonly title: string;
  /** What would happen, complete: the command line, or the change. Shown in a fixed-width font, never as Markdown. */
  readonly text: string;
  readonly rows: readonly { readonly label: string; readonly value: string }[];
  /** What "always" would cover; absent when there is no such answer. */
  readonly always?: string;
}

/** The recorded fields of a request. `command` is for reading, with invisible characters escaped. */
export interface ApprovalRequest {
  readonly command: string;
  readonly cwd: string | null;
  readonly host: string | null;
  readonly security: string | null;
  readonly ask: string | null;
  readonly agentId: string | null;
  readonly resolvedPath: string | null;
  readonly sessionKey: string | null;
}

/** `exec.approval.requested`, and a row of `exec.approvals.pending`. */
export interface ApprovalRequested {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly request: ApprovalRequest;
  readonly card: ApprovalCard;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** `exec.approval.resolved`. */
export interface ApprovalResolved {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly decision: ApprovalDecision;
  readonly resolvedBy: string;
  /** Why, when no person decided: expired, withdrawn. */
  readonly reason?: string;
  readonly ts: number;
}

/** pending → allowed | denied | expired; allowed → started → done, or denied when it was not started in time. */
export type ApprovalState = "pending" | "allowed" | "denied" | "expired" | "started" | "done";

/** Who answered, and where. */
export interface Answerer {
  readonly clientId: string;
  /** `page`, `cli`, `chat` … */
  readonly surface: string;
  readonly deviceId?: string;
  /** Through a chat channel: the sender, who can answer only for the agent of that chat. */
  readonly sender?: string;
}

/** A row of `recent` in `exec.approvals.pending`. */
export interface ClosedApproval {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly agent: string | null;
  readonly session: string | null;
  readonly request: ApprovalRequest;
  readonly card: ApprovalCard;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly state: ApprovalState;
  readonly decision?: ApprovalDecision;
  readonly answeredAtMs?: number;
  readonly answeredBy?: Answerer;
  readonly startedAtMs?: number;
  readonly closedAtMs?: number;
  /** Why it was closed without an answer of a person; of a done one, its outcome. */
  readonly reason?: string;
}
