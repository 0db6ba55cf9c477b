// Checks a Messages request as the published API does; the first thing wrong is the message of a 400.
import { isRecord } from "./openai-request.ts";

const blocksOf: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image", "tool_result", "document"],
  assistant: ["text", "tool_use", "thinking", "redacted_thinking"],
};

export function checkMessagesRequest(body: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof body["model"] !== "string") return "model: Field required";
  const maxTokens = body["max_tokens"];
  if (typeof maxTokens !== "number" || maxTokens < 1) return "max_tokens: Field required";
  const wrong = checkChoice(body, thinkingOf(body));
  if (wrong !== undefined) return wrong;
  const messages = body["messages"];
  if (!Array.isArray(messages) || messages.length === 0) return "messages: at least one message is required";
  const marks = JSON.stringify(body).split('"cache_control":').length - 1;
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  const thinking = thinkingOf(body);
  const budget = thinking["budget_tokens"];
  if (typeof budget === "number" && (budget < 1024 || budget >= maxTokens))
    return "`max_tokens` must be greater than `thinking.budget_tokens`";
  return checkTurns(messages as readonly unknown[], thinking["type"] === "enabled");
}

const thinkingOf = ({ thinking }: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  isRecord(thinking) ? thinking : {};

function checkChoice(
  { tools, tool_choice: choice }: Readonly<Record<string, unknown>>,
  thinking: Record<string, unknown>,
): string | undefined {
  if (choice === undefined) return undefined;
  if (!Array.isArray(tools)) return "tool_choice may only be specified while providing tools";
  if (!isRecord(choice)) return "tool_choice: Input should be an object";
  const { type, name } = choice;
  if (!["auto", "any", "tool", "none"].includes(String(type))) return `tool_choice.type: ${String(type)} is not known`;
  if ((type === "any" || type === "tool") && thinking["type"] === "enabled")
    return "Thinking may not be enabled when tool_choice forces tool use.";
  const isKnown = (tools as unknown[]).some((tool) => isRecord(tool) && tool["name"] === name);
  return type === "tool" && !isKnown ? `tool_choice.name: tool '${String(name)}' not found` : undefined;
}

/** The text a stand-in seals its thinking with; a request must bring it back unchanged. */
export function signatureOf(thinking: string): string {
  return `signed:${Buffer.from(thinking, "utf8").toString("base64")}`;
}

function checkTurns(messages: readonly unknown[], isThinking: boolean): string | undefined {
  let [open, last] = [new Set<string>(), "assistant"];
  const seen = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (!isRecord(message)) return `messages.${at}: not an object`;
    const role = String(message["role"]);
    const allowed = blocksOf[role];
    if (allowed === undefined) return `messages.${at}.role: Input should be 'user' or 'assistant'`;
    if (at === 0 && role !== "user") return 'messages: first message must use the "user" role';
    if (role === last) return `messages.${at}: roles must alternate`;
    last = role;
    const blocks = blocksIn(message["content"]);
    if (blocks.length === 0) return `messages.${at}: all messages must have non-empty content`;
    const wrong = blocks.map((block) => checkBlock(block, allowed, at)).find((text) => text !== undefined);
    if (wrong !== undefined) return wrong;
    if (role === "assistant") {
      const ids = blocks.flatMap((block) => (block["type"] === "tool_use" ? [String(block["id"])] : []));
      if (ids.some((id) => seen.has(id)) || new Set(ids).size < ids.length)
        return `messages.${at}: \`tool_use\` ids must be unique`;
      for (const id of ids) seen.add(id);
      const startsWithThought = ["thinking", "redacted_thinking"].includes(String(blocks[0]?.["type"]));
      const isUnderWay = !messages
        .slice(at + 1)
        .some((later) => isRecord(later) && later["role"] === "user" && !hasResult(later));
      if (isThinking && ids.length > 0 && isUnderWay && !startsWithThought)
        return `messages.${at}: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. When \`thinking\` is enabled, a final assistant message must start with a thinking block.`;
      open = new Set(ids);
      continue;
    }
    const answered = blocks.flatMap((block) => (block["type"] === "tool_result" ? [String(block["tool_use_id"])] : []));
    const stray = answered.find((id) => !open.has(id));
    if (stray !== undefined)
      return `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}`;
    const missing = [...open].filter((id) => !answered.includes(id));
    if (missing.length > 0)
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks: ${missing.join(", ")}`;
    open = new Set();
  }
  return open.size === 0
    ? undefined
    : `\`tool_use\` ids were found without \`tool_result\` blocks: ${[...open].join(", ")}`;
}

function checkBlock(block: Record<string, unknown>, allowed: readonly string[], at: number): string | undefined {
  const type = String(block["type"]);
  if (!allowed.includes(type)) return `messages.${at}.content: unexpected block type '${type}'`;
  if (type === "text" && String(block["text"]).trim() === "") return "messages: text content blocks must be non-empty";
  if (type === "tool_use" && !/^[a-zA-Z0-9_-]+$/.test(String(block["id"])))
    return `messages.${at}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
  if (type === "image" && !isSoundImage(block["source"])) return `messages.${at}: image.source: not a picture`;
  if (type === "thinking" && block["signature"] !== signatureOf(String(block["thinking"])))
    return `messages.${at}: Invalid \`signature\` in \`thinking\` block`;
  return undefined;
}

function isSoundImage(source: unknown): boolean {
  return (
    isRecord(source) &&
    source["type"] === "base64" &&
    String(source["media_type"]).startsWith("image/") &&
    /^[A-Za-z0-9+/]+=*$/.test(String(source["data"]))
  );
}

function blocksIn(content: unknown): Record<string, unknown>[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? (content as unknown[]).filter((block) => isRecord(block)) : [];
}

function hasResult(message: Record<string, unknown>): boolean {
  return blocksIn(message["content"]).some((block) => block["type"] === "tool_result");
}
