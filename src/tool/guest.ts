// Whether a tool reads and steers for strangers: asked of the app, which knows whose words led to a turn.
import type { ToolCall } from "./tool.ts";

export interface GuestDeps {
  readonly isGuest?: (call: ToolCall) => Promise<boolean>;
}
