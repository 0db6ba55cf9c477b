// Reads whole files for tools that are no file tools: under the same rules as `read`.
import type { ToolCall } from "./tool.ts";

export interface WorkspaceFiles {
  /** The absolute paths that `raw` means at first sight, for intents. Never throws. */
  intended(call: ToolCall, raw: string): string[];
  /** Rejects as `read` does, and with `fs.too-large`. */
  read(call: ToolCall, raw: string, maxBytes: number): Promise<WorkspaceFile>;
}

export interface WorkspaceFile {
  /** Absolute, links resolved. */
  readonly path: string;
  readonly bytes: Buffer;
}
