// What the admin service needs from the gateway it runs in.
import type { ApprovalBroker } from "../approval/broker.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import type { LiveSettings } from "../config/live-settings.ts";
import type { Wake } from "../session/wake.ts";
import type { Store } from "../store/store.ts";
import type { RecallTool } from "../tool/call.ts";

export interface AdminDeps {
  readonly paths: Paths;
  readonly env: Env;
  readonly version: string;
  readonly log: Log;
  readonly mask: Mask;
  readonly store: Store;
  readonly settings: LiveSettings;
  readonly broker: ApprovalBroker;
  /** Sends a note to a session; available when the agents are open. */
  readonly wake: () => Wake;
  readonly restart: Restart;
  readonly recallTool: RecallTool;
}

/** Ends this run and starts the next one; `fresh` in a new process image, for code that changed on disk. */
export type Restart = (reason: string, delayMs: number, options?: { readonly fresh?: boolean }) => void;
