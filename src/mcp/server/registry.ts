// What MCP clients can be offered beside tools: providers of resources and prompts, and news of their changes.
import type { Subject } from "../../tool/subject.ts";
import type { CallClient, ToolResult } from "../../tool/tool.ts";

/** On whose behalf a provider works. Everything it reads for them goes through `call`, and so through policy. */
export interface McpUser {
  readonly subject: Subject;
  readonly signal: AbortSignal;
  /** Whether policy lets this user call the tool. */
  allows(tool: string): boolean;
  call(tool: string, args: Record<string, unknown>): Promise<ToolResult>;
}

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

export type ResourceContents = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);

export interface ResourceProvider {
  list(user: McpUser): Promise<readonly Resource[]>;
  templates(user: McpUser): readonly ResourceTemplate[];
  /** Undefined when the URI is none of this provider's, or names a resource that is not there for this user. */
  read(uri: string, user: McpUser): Promise<readonly ResourceContents[] | undefined>;
  /** Calls `changed` after each change until the returned function is called. Undefined when it cannot be watched. */
  watch?(uri: string, user: McpUser, changed: () => void): (() => void) | undefined;
  /** Values for a variable of one of its templates. */
  complete?(template: string, argument: string, value: string, user: McpUser): Promise<readonly string[]>;
}

export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
}

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: object }[];
}

export interface PromptProvider {
  list(user: McpUser): Promise<readonly Prompt[]>;
  /** Undefined when this provider has no such prompt. Required arguments are there. */
  get(
    name: string,
    args: Readonly<Record<string, string>>,
    user: McpUser,
    client: CallClient,
  ): Promise<PromptResult | undefined>;
  complete?(prompt: string, argument: string, value: string, user: McpUser): Promise<readonly string[]>;
}

export interface McpRegistry {
  readonly resources: readonly ResourceProvider[];
  readonly prompts: readonly PromptProvider[];
  /** Tells open streams that the list of prompts has changed. */
  promptsChanged(): void;
  onPromptsChanged(listener: () => void): () => void;
}

export function createMcpRegistry(providers: {
  readonly resources?: readonly ResourceProvider[];
  readonly prompts?: readonly PromptProvider[];
}): McpRegistry {
  const listeners = new Set<() => void>();
  return {
    resources: providers.resources ?? [],
    prompts: providers.prompts ?? [],
    promptsChanged() {
      for (const listener of listeners) listener();
    },
    onPromptsChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** What every provider lists, in order. */
export async function collect<P, T>(
  providers: readonly P[],
  list: (provider: P) => Promise<readonly T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for (const provider of providers) all.push(...(await list(provider)));
  return all;
}
