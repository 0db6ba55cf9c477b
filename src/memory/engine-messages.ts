// The messages between the main thread and the index thread; plain values only.
import type { Engine } from "./engine.ts";
import type { IndexSettings } from "./settings.ts";

/** The methods that another thread can call. */
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
  /** Texts of this index were added or removed. */
  | { readonly changed: string };
