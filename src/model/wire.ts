// The contract of a vendor wire: a language model and the vendor's rules for requests.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";

import type { Credential, ModelFacts, ModelRequest } from "./model.ts";

export interface WireSettings {
  /** Our name of the provider, for messages and for options by provider. */
  readonly provider: string;
  readonly modelId: string;
  readonly baseUrl: string | undefined;
  readonly credential: Credential | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Wire {
  readonly dialect: Dialect;
  /** The vendor's model for any number of requests; the signal identifies each request. */
  open(fetch: typeof globalThis.fetch): LanguageModelV4;
  options(request: ModelRequest, facts: ModelFacts): WireOptions;
}

export type WireOptions = Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions">;

export interface Dialect {
  /** Replayed turns must come from the same dialect and model. */
  readonly name: string;
  /** Images may be part of a tool result; otherwise they follow as a user message. */
  readonly imagesInResults: boolean;
  /** The conversation must start with a user message. */
  readonly userFirst: boolean;
  /** Consecutive user messages are merged. */
  readonly mergeUsers: boolean;
  /** Name of the provider options that carry cache marks, where the vendor has them. */
  readonly cacheMarks?: string;
  /** Calls of a turn with reasoning must replay that reasoning, or reasoning must be off. */
  readonly thinkingNeedsReplay?: boolean;
  /** Reasoning excludes forced calls and sampling settings: the caller's settings win. */
  readonly thinkingIsFree?: boolean;
  /** Calls arrive in one piece, so that the stream may be silent for longer. */
  readonly wholeCalls?: boolean;
  callId(id: string): string;
}

/** Letters, digits, `_` and `-`, at most 64: accepted by every vendor but one. */
export function plainCallId(id: string): string {
  const plain = id.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return plain === "" ? "call" : plain;
}
