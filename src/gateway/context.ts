// What the gateway's methods and routes may use; made once by app.ts.
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
import type { CallTool } from "../tool/call.ts";
import type { Catalog } from "../tool/catalog.ts";
import type { Undo } from "../tool/undo/undo.ts";
import type { DeviceBook } from "./devices.ts";
import type { Hub } from "./hub.ts";
import type { Nodes } from "../node/nodes.ts";
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
  readonly approvals: ApprovalBroker;
  /** Lines that wait for sessions. */
  readonly events: SystemEvents;
  /** Copies of files as they were; those of a deleted session go with it. */
  readonly undo?: Pick<Undo, "forget">;
  readonly devices: DeviceBook;
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
  readonly takeOver: () => void;
  /** Ends this run after `delayMs` and starts a new one in the same process. One restart is in flight at a time. */
  readonly restart: (reason: string, delayMs: number) => void;
  /** The same with a note for a session, which is on disk before the restart. */
  readonly announceRestart: Restarts["announce"];
  /** What is wrong with the store: damaged, or no space left for it. */
  readonly storeProblem?: () => string | undefined;
  /** Why the config on disk is not the one in force, when it is not. */
  readonly trouble?: () => string | undefined;
  /** What the owner should know about the approvals file: it is gone, or cannot be read. */
  readonly approvalsCaution?: () => { readonly text: string; readonly fix: string } | undefined;
}
