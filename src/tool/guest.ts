// Whether a tool reads and steers for strangers: asked of the app, which knows whose words led to a turn.
import type { ToolCall } from "./tool.ts";

export interface TrustChecks {
  /** Others than the owner speak in this chat, and do so now. */
  readonly isGuest?: (call: ToolCall) => Promise<boolean>;
  /** Strangers' words led to it, in whatever chat. */
  readonly isUntrustedCall?: (call: ToolCall) => Promise<boolean>;
}
