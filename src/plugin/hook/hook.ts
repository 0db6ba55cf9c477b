// The types of a hook (a script of the owner that runs on events) and of its event.
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

/** As written in its HOOK.md. */
export interface HookCard {
  readonly name: string;
  readonly description: string;
  readonly emoji?: string;
  readonly homepage?: string;
  /** `command`, `command:new`, `gateway:startup` … */
  readonly events: readonly string[];
  /** Name of the function; default: the default export. */
  readonly exportName?: string;
  /** Requirements are not checked. */
  readonly always: boolean;
  readonly requires: Requirements;
}

export interface HookRow extends HookCard {
  readonly source: HookSource;
  /** Its folder; absent for bundled hooks. */
  readonly folder?: string;
  readonly file?: string;
  /** Agents can write its folder: it runs only in the version that a person enabled. */
  readonly needsPin: boolean;
  /** Digest of its files, where a pin is required. */
  readonly digest?: string;
  readonly enabled: boolean;
  /** Requirements that this machine lacks. */
  readonly missing: readonly string[];
  /** The reason why it cannot run. */
  readonly problem?: string;
  /** Enabled, with nothing missing and no error. */
  readonly runs: boolean;
}

export interface BootstrapFile {
  readonly name: string;
  readonly path?: string;
  readonly content: string;
}

/** Plain data: it is passed to another thread and returned changed. */
export interface HookEvent {
  readonly type: "command" | "agent" | "gateway";
  readonly action: string;
  readonly sessionKey: string;
  readonly timestamp: Date;
  /** Messages pushed here are shown to the person. */
  readonly messages: string[];
  readonly context: HookContext;
}

export interface HookContext {
  readonly agentId?: string;
  readonly sessionEntry?: unknown;
  readonly sessionId?: string;
  /** Where the published release stores a transcript; this one uses the store. */
  readonly sessionFile?: string;
  readonly commandSource?: string;
  readonly senderId?: string;
  readonly workspaceDir?: string;
  /** For `agent:bootstrap`; the hook may change or replace them. */
  bootstrapFiles?: readonly BootstrapFile[];
  /** The config without its secrets. */
  readonly cfg?: unknown;
}

/** What the gateway passes when it emits an event. */
export interface Occurrence {
  readonly type: HookEvent["type"];
  readonly action: string;
  readonly sessionKey: SessionKey;
  readonly context: Omit<HookContext, "cfg">;
}

export interface HookResult {
  readonly messages: readonly string[];
  readonly bootstrapFiles?: readonly BootstrapFile[];
}
