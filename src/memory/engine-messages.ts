// What the main thread and the thread of the indexes say to each other. Plain values only.
import type { Engine } from "./engine.ts";
import type { IndexSettings } from "./settings.ts";

/** What can be asked of an engine from another thread. */
export type EngineCalls = Omit<Engine, "stop" | "close">;
export type EngineMethod = keyof EngineCalls;

export interface EngineRequest {
  readonly id: number;
  readonly settings: IndexSettings;
  readonly method: EngineMethod | "close";
  readonly args: readonly unknown[];
}

export interface EngineFailure {
  readonly code: string | undefined;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly details?: unknown;
}

export type EngineReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: EngineFailure }
  /** Texts of this index came or went. */
  | { readonly changed: string };
