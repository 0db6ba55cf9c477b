// Reads the wire events `agent` and `chat` of a run into what a terminal shows.
// Growing text comes from `agent` alone: the deltas of `chat` repeat it later and less often.

/** Text is always the complete reply so far, so that a lost event leaves no gap. */
export type RunView =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tool-start"; readonly id: string; readonly name: string; readonly args: unknown }
  | {
      readonly kind: "tool-end";
      readonly id: string;
      readonly name: string;
      readonly isError: boolean;
      readonly result: string;
    }
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "final"; readonly text: string }
  | { readonly kind: "aborted"; readonly text: string }
  | { readonly kind: "error"; readonly message: string; readonly hint: string | undefined };

export interface ReceivedEvent {
  readonly runId: string;
  readonly sessionKey: string | undefined;
  readonly view: RunView;
}

/** Undefined for every event that a terminal does not show, and for unknown shapes. */
export function readEvent(event: string, payload: unknown): ReceivedEvent | undefined {
  const { runId, sessionKey } = fieldsOf(payload);
  if (typeof runId !== "string") return undefined;
  const view =
    event === "chat" ? readChat(fieldsOf(payload)) : event === "agent" ? readAgent(fieldsOf(payload)) : undefined;
  return view === undefined
    ? undefined
    : { runId, sessionKey: typeof sessionKey === "string" ? sessionKey : undefined, view };
}

function readChat({ state, message, errorMessage, hint, error }: Fields): RunView | undefined {
  const text = textIn(fieldsOf(message)["content"]);
  switch (state) {
    case "final":
      return { kind: "final", text };
    case "aborted":
      return { kind: "aborted", text };
    case "error":
      return {
        kind: "error",
        message: asText(errorMessage) ?? asText(fieldsOf(error)["message"]) ?? (text === "" ? "the run failed" : text),
        hint: asText(hint) ?? asText(fieldsOf(error)["hint"]),
      };
    default:
      return undefined;
  }
}

function readAgent({ stream, data }: Fields): RunView | undefined {
  const body = fieldsOf(data);
  if (stream === "assistant")
    return typeof body["text"] === "string" ? { kind: "text", text: body["text"] } : undefined;
  if (stream === "tool") return readTool(body);
  const note =
    stream === "notice" || stream === "compaction" ? (asText(body["text"]) ?? asText(body["note"])) : undefined;
  return note === undefined ? undefined : { kind: "notice", text: note };
}

function readTool({ phase, name, toolCallId, args, isError, result, meta }: Fields): RunView | undefined {
  if (typeof name !== "string" || typeof toolCallId !== "string") return undefined;
  if (phase === "start") return { kind: "tool-start", id: toolCallId, name, args };
  if (phase !== "result") return undefined;
  const output = textIn(fieldsOf(result)["content"]);
  return {
    kind: "tool-end",
    id: toolCallId,
    name,
    isError: isError === true,
    result: output === "" ? (asText(meta) ?? "") : output,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The text blocks of a message's content. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map(fieldsOf)
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n");
}
