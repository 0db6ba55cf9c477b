// Content blocks and the messages of a transcript, in the recorded format.

export type Block = TextBlock | ImageBlock;

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

/** `data` is base64. */
export interface ImageBlock {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
}

export interface ToolCallBlock {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly Block[];
  readonly timestamp: number;
}

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
  /** Cost of the answer at the prices of that day. */
  readonly cost?: UsageCost;
}

/** In USD. */
export interface UsageCost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly total: number;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly (Block | ToolCallBlock)[];
  readonly timestamp: number;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: Usage;
  readonly stopReason?: string;
  readonly errorMessage?: string;
  /** Data that the vendor expects back with this turn (signatures …); useless to any other model. */
  readonly replay?: unknown;
}

export interface ToolResultMessage {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly Block[];
  readonly details?: unknown;
  readonly isError: boolean;
  readonly timestamp: number;
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** The text of a message, blocks joined by newlines; tool calls and images are skipped. */
export function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.flatMap((block) => (block.type === "text" && block.text !== undefined ? [block.text] : [])).join("\n");
}
