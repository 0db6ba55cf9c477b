// Stores what a vendor expects back of its own turn (signed reasoning, ids), apart from the visible text.
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";

export interface Replay {
  readonly dialect: string;
  readonly model: string;
  readonly parts: readonly ReplayPart[];
}

export type ReplayPart =
  | { readonly type: "thinking"; readonly text: string; readonly options?: SharedV4ProviderOptions }
  | { readonly type: "text"; readonly options?: SharedV4ProviderOptions }
  | { readonly type: "call"; readonly id: string; readonly options?: SharedV4ProviderOptions };

/** Undefined for data of another vendor or model; then the plain message is sent. */
export function usableReplay(value: unknown, dialect: string, model: string): Replay | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const replay = value as Partial<Replay>;
  if (replay.dialect !== dialect || replay.model !== model || !Array.isArray(replay.parts)) return undefined;
  return replay as Replay;
}
