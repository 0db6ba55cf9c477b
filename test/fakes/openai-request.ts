// Checks a chat-completions request as the published API does; the first thing wrong is the message of a 400.

const known = new Set(
  (
    "model messages tools tool_choice parallel_tool_calls stream stream_options max_tokens max_completion_tokens temperature top_p n stop " +
    "presence_penalty frequency_penalty logit_bias logprobs top_logprobs user seed response_format reasoning_effort metadata store " +
    "prompt_cache_key prompt_cache_retention safety_identifier service_tier verbosity modalities audio prediction web_search_options " +
    // Taken by the usual compatible servers.
    "top_k min_p reasoning num_ctx keep_alive"
  ).split(" "),
);
const roles = ["system", "developer", "user", "assistant", "tool"];

export function checkChatRequest(body: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = Object.keys(body).find((key) => !known.has(key));
  if (unknown !== undefined) return `Unrecognized request argument supplied: ${unknown}`;
  if (typeof body["model"] !== "string") return "you must provide a model parameter";
  const messages = body["messages"];
  if (!Array.isArray(messages) || messages.length === 0) return "[] is too short - 'messages'";
  return (
    checkMessages(messages as readonly unknown[]) ??
    checkTools(body["tools"]) ??
    checkChoice(body, chatToolName, "tools")
  );
}

const chatToolName = (tool: Record<string, unknown>): unknown =>
  isRecord(tool["function"]) ? tool["function"]["name"] : undefined;

/** `nameOf` finds the name in a tool and in a choice alike. */
export function checkChoice(
  { tools, tool_choice: choice }: Readonly<Record<string, unknown>>,
  nameOf: (tool: Record<string, unknown>) => unknown,
  param: string,
): string | undefined {
  if (choice === undefined) return undefined;
  if (!Array.isArray(tools)) return `tool_choice is only allowed when ${param} are specified`;
  if (typeof choice === "string")
    return ["none", "auto", "required"].includes(choice) ? undefined : `Invalid value: '${choice}' for tool_choice`;
  const name = isRecord(choice) && choice["type"] === "function" ? nameOf(choice) : undefined;
  const isKnown = (tools as unknown[]).some((tool) => isRecord(tool) && nameOf(tool) === name);
  return name !== undefined && isKnown ? undefined : `Tool choice '${String(name)}' not found in 'tools' parameter`;
}

function checkMessages(messages: readonly unknown[]): string | undefined {
  let open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (!isRecord(message)) return `messages[${at}] is not an object`;
    const role = message["role"];
    if (typeof role !== "string" || !roles.includes(role))
      return `Invalid value: '${String(role)}' for messages[${at}].role`;
    if (role === "tool") {
      const id = message["tool_call_id"];
      if (typeof id !== "string" || !open.delete(id))
        return `messages[${at}]: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`;
    } else if (open.size > 0) return unanswered(open);
    const wrong = checkContent(message, at);
    if (wrong !== undefined) return wrong;
    if (role === "assistant") open = idsOf(message["tool_calls"]);
  }
  return open.size === 0 ? undefined : unanswered(open);
}

function checkContent(message: Record<string, unknown>, at: number): string | undefined {
  const { role, content, tool_calls: toolCalls } = message;
  if (typeof content === "string") return undefined;
  if (role === "assistant" && (content === null || content === undefined))
    return Array.isArray(toolCalls) && toolCalls.length > 0
      ? undefined
      : `messages[${at}].content: expected a string, got null.`;
  if (!Array.isArray(content)) return `messages[${at}].content: expected a string or an array.`;
  const types = role === "user" ? ["text", "image_url", "input_audio", "file"] : ["text", "refusal"];
  const bad = (content as unknown[]).find(
    (part) => !isRecord(part) || !types.includes(String(part["type"])) || !isImageSound(part),
  );
  return bad === undefined
    ? undefined
    : `messages[${at}].content has a part this role may not carry: ${JSON.stringify(bad).slice(0, 80)}`;
}

function isImageSound({ type, image_url: image }: Record<string, unknown>): boolean {
  if (type !== "image_url") return true;
  const url = isRecord(image) ? image["url"] : undefined;
  return (
    typeof url === "string" && /^(?:https?:\/\/|data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$)/.test(url)
  );
}

function checkTools(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools) || tools.length === 0) return "[] is too short - 'tools'";
  for (const [at, tool] of (tools as unknown[]).entries()) {
    if (!isRecord(tool) || tool["type"] !== "function" || !isRecord(tool["function"])) return `Invalid tools[${at}]`;
    const { name, parameters } = tool["function"];
    if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name)) return `Invalid 'tools[${at}].function.name'`;
    if (parameters !== undefined && (!isRecord(parameters) || parameters["type"] !== "object"))
      return `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'`;
  }
  return undefined;
}

function idsOf(toolCalls: unknown): Set<string> {
  if (!Array.isArray(toolCalls)) return new Set();
  return new Set((toolCalls as unknown[]).flatMap((entry) => (isRecord(entry) ? [String(entry["id"])] : [])));
}

function unanswered(open: ReadonlySet<string>): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Missing: ${[...open].join(", ")}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
