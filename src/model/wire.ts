// What a vendor's leaf gives the house: a language model for one request, and how that vendor wants things said.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";

import type { ModelFacts, ModelRequest } from "./model.ts";

export interface WireSettings {
  /** Our name of the provider, for messages and for options by provider. */
  readonly provider: string;
  readonly modelId: string;
  readonly baseUrl: string | undefined;
  readonly credential: Credential | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Credential {
  /** `bearer` goes into Authorization even where the vendor has a header of its own for keys. */
  readonly kind: "key" | "bearer";
  readonly value: string;
}

export interface Wire {
  readonly dialect: Dialect;
  /** The vendor's model for any number of requests; each is told apart by its signal. */
  open(fetch: typeof globalThis.fetch): LanguageModelV4;
  options(request: ModelRequest, facts: ModelFacts): WireOptions;
}

export type WireOptions = Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions">;

export interface Dialect {
  /** Replayed turns must come from the same dialect and model. */
  readonly name: string;
  /** Pictures may stand in a tool's result; elsewhere they follow as a message of the user. */
  readonly imagesInResults: boolean;
  /** The conversation has to begin with the user. */
  readonly userFirst: boolean;
  /** Two messages of the user in a row become one. */
  readonly mergeUsers: boolean;
  /** Options name under which cache marks are put, where the vendor wants them. */
  readonly cacheMarks?: string;
  /** Calls of a turn with thinking must show that thinking again, or the thinking of this turn has to be off. */
  readonly thinkingNeedsReplay?: boolean;
  /** Thinking takes tokens of its own and goes with neither forced calls nor sampling: the caller's settings win. */
  readonly thinkingIsFree?: boolean;
  /** Calls come in one piece, however long the model writes on them: silence within an answer may last longer. */
  readonly wholeCalls?: boolean;
  callId(id: string): string;
}

/** Letters, digits, `_` and `-`, at most 64: what every vendor but one takes. */
export function plainCallId(id: string): string {
  const plain = id.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return plain === "" ? "call" : plain;
}
