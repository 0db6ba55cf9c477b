// Messages from one session to another, as the tool uses them: send, and optionally wait for the answer.
import type { AgentId, SessionKey } from "../core/names.ts";

/** The kv space of open exchanges; its name is older than the type. */
export const EXCHANGES = "talks";

export interface SendRequest {
  readonly from: { readonly agent: AgentId; readonly session: SessionKey; readonly sandboxed: boolean };
  /** A key in any spelling, or a session id. Without one, `label` or the main session of `agentId`. */
  readonly to?: string | undefined;
  readonly label?: string | undefined;
  readonly agentId?: string | undefined;
  readonly message: string;
  /** 0 does not wait. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type SendAnswer =
  | { readonly status: "accepted"; readonly runId: string; readonly sessionKey: SessionKey }
  | { readonly status: "ok"; readonly runId: string; readonly sessionKey: SessionKey; readonly reply: string }
  | {
      readonly status: "timeout" | "error";
      readonly runId?: string;
      readonly sessionKey?: SessionKey;
      readonly error: string;
    }
  | { readonly status: "forbidden"; readonly error: string };

export interface SessionMessages {
  /** Durable when it resolves with a run id: the exchange continues also after a crash. */
  send(request: SendRequest): Promise<SendAnswer>;
  /** Continues exchanges of an earlier process. */
  recover(): Promise<void>;
  close(): void;
}
