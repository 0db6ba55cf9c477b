// What a hook is: a script of the owner that hears of events inside the house, and the event as it sees it.
import type { SessionKey } from "../../core/names.ts";

export type HookSource = "bundled" | "managed" | "workspace" | "extra";

export interface Requirements {
  readonly bins: readonly string[];
  /** One of them is enough. */
  readonly anyBins: readonly string[];
  readonly env: readonly string[];
  /** Config paths that must be set and not off. */
  readonly config: readonly string[];
  readonly os: readonly string[];
}

/** As its HOOK.md says. */
export interface HookCard {
  readonly name: string;
  readonly description: string;
  readonly emoji?: string;
  readonly homepage?: string;
  /** `command`, `command:new`, `gateway:startup` … */
  readonly events: readonly string[];
  /** Name of the function; the default export when left out. */
  readonly exportName?: string;
  /** What it requires is not looked at. */
  readonly always: boolean;
  readonly requires: Requirements;
}

export interface HookRow extends HookCard {
  readonly source: HookSource;
  /** Where it lies; absent for those that come with the house. */
  readonly folder?: string;
  readonly file?: string;
  /** Agents can write where it lies: it runs only as it was when a person enabled it. */
  readonly needsPin: boolean;
  /** Of its files, where a pin is needed. */
  readonly digest?: string;
  readonly enabled: boolean;
  /** What it requires and this machine lacks. */
  readonly missing: readonly string[];
  /** Why it cannot run at all. */
  readonly problem?: string;
  /** Enabled, nothing missing, nothing wrong. */
  readonly runs: boolean;
}

export interface BootstrapFile {
  readonly name: string;
  readonly path?: string;
  readonly content: string;
}

/** Plain data: it goes to another thread and comes back changed. */
export interface HookEvent {
  readonly type: "command" | "agent" | "gateway";
  readonly action: string;
  readonly sessionKey: string;
  readonly timestamp: Date;
  /** What is pushed here is told to the person. */
  readonly messages: string[];
  readonly context: HookContext;
}

export interface HookContext {
  readonly agentId?: string;
  readonly sessionEntry?: unknown;
  readonly sessionId?: string;
  /** Where the published release keeps a transcript; ours are in the store. */
  readonly sessionFile?: string;
  readonly commandSource?: string;
  readonly senderId?: string;
  readonly workspaceDir?: string;
  /** For `agent:bootstrap`; may be changed or replaced. */
  bootstrapFiles?: readonly BootstrapFile[];
  /** The config without its secrets. */
  readonly cfg?: unknown;
}

/** What the house knows when it tells of an event. */
export interface Occurrence {
  readonly type: HookEvent["type"];
  readonly action: string;
  readonly sessionKey: SessionKey;
  readonly context: Omit<HookContext, "cfg">;
}

export interface Heard {
  readonly messages: readonly string[];
  readonly bootstrapFiles?: readonly BootstrapFile[];
}
