// What the gateway's methods and routes may use; created once by the app.
import type { Restarts } from "../admin/restarts.ts";
import type { Clock } from "../base/clock.ts";
import type { LogSink } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema/index.ts";
import type { ApprovalBroker } from "../approval/broker.ts";
import type { SystemEvents } from "../session/system-events.ts";
import type { Store } from "../store/store.ts";
import type { McpRegistry } from "../mcp/server/registry.ts";
import type { CallTool } from "../tool/call.ts";
import type { Extraction } from "../media/extract/extract.ts";
import type { Guard } from "../media/guard/guard.ts";
import type { MediaStore } from "../media/store.ts";
import type { Catalog } from "../tool/catalog.ts";
import type { Undo } from "../tool/undo/undo.ts";
import type { DeviceRegistry } from "./devices.ts";
import type { Hub } from "./hub.ts";
import type { Nodes } from "../node/nodes.ts";
import type { Caution } from "../protocol/methods/system.ts";
import type { Presence } from "./presence.ts";
import type { PresenceEvents } from "./presence-events.ts";

export interface GatewayContext {
  readonly paths: Paths;
  readonly env: Env;
  readonly version: string;
  readonly clock: Clock;
  readonly log: LogSink;
  readonly mask: Mask;
  readonly store: Store;
  readonly storeFile: string;
  readonly catalog: Catalog;
  readonly callTool: CallTool;
  /** Every request to a URL that a model, a page or a sender chose goes through it. */
  readonly guard: Guard;
  readonly extraction: Extraction;
  /** Where attachments are kept. */
  readonly media: MediaStore;
  readonly approvals: ApprovalBroker;
  /** System events that wait for sessions. */
  readonly events: SystemEvents;
  /** The undo history; that of a deleted session is deleted too. */
  readonly undo?: Pick<Undo, "forget">;
  readonly devices: DeviceRegistry;
  readonly hub: Hub;
  /** Shared with the tools that send commands to nodes; without one the gateway creates its own. */
  readonly nodes?: Nodes;
  readonly presence: Presence;
  readonly presenceEvents: PresenceEvents;
  readonly startedAt: number;
  /** The config in force (validated, with defaults). */
  readonly config: () => Config;
  /** Re-reads the file: what is on disk now, in force or not. */
  readonly readConfig: () => LoadedConfig;
  /** Applies the config on disk now, as the file watcher would; no effect when it is invalid or unchanged. */
  readonly applyConfigFile: () => void;
  /** Calls the listener after each change of the config in force; returns how to stop. */
  readonly followConfig: (listener: () => void) => () => void;
  /** Aborts when the gateway begins to close: streams that only wait for news end, so that they do not hold it up. */
  readonly closing: AbortSignal;
  /** Resources and prompts that MCP clients see beside the built-in ones. */
  readonly mcp?: McpRegistry | undefined;
  /** Ends this run after `delayMs` and starts a new one in the same process. One restart is in flight at a time. */
  readonly restart: (reason: string, delayMs: number) => void;
  /** The same with a note for a session, which is on disk before the restart. */
  readonly announceRestart: Restarts["announce"];
  /** What is wrong with the store: damaged, or no space left for it. */
  readonly storeProblem?: () => string | undefined;
  /** Why the config on disk is not the one in force, when it is not. */
  readonly configProblem?: () => string | undefined;
  /** A caution about the approvals file: it is missing, or cannot be read. */
  readonly approvalsCaution?: () => Caution | undefined;
  /** One for each MCP server whose tools changed since they were approved. */
  readonly mcpCautions?: () => readonly Caution[];
}
