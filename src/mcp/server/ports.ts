// What the MCP server uses of the gateway.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Mask } from "../../base/mask.ts";
import type { Config } from "../../config/schema/index.ts";
import type { CallTool } from "../../tool/call.ts";
import type { Catalog } from "../../tool/catalog.ts";
import type { ApprovalPorts } from "./approval.ts";
import type { McpRegistry } from "./registry.ts";

export interface McpPorts extends ApprovalPorts {
  readonly version: string;
  readonly catalog: Pick<Catalog, "offered" | "follow" | "prepare" | "effect" | "judge" | "surroundings">;
  readonly callTool: CallTool;
  readonly config: () => Config;
  readonly followConfig: (listener: () => void) => () => void;
  readonly registry: McpRegistry | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly mask: Mask;
}
