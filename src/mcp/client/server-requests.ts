// What an MCP server may ask of us during a call: roots, and with the owner's approval a model's answer or a form.
import { pathToFileURL } from "node:url";
import type { Client } from "@modelcontextprotocol/client";

import { OpenClawError } from "../../core/error.ts";
import type { Message } from "../../core/message.ts";
import { isRecord } from "../../core/record.ts";
import { neutralize } from "../../base/untrusted-content.ts";
import type { ApprovalBroker } from "../../approval/broker.ts";
import type { AskModel } from "../../model/ask.ts";
import type { ModelBook } from "../../model/model.ts";
import type { ToolCall } from "../../tool/tool.ts";

/** Registers the answers; `current` is the call that is running. */
export type AnswerServer = (client: Client, current: () => ToolCall | undefined) => void;

export interface ServerRequestDeps {
  readonly id: string;
  readonly workspace: string;
  readonly broker?: ApprovalBroker | undefined;
  readonly askModel?: (() => AskModel) | undefined;
  readonly models?: Pick<ModelBook, "candidates"> | undefined;
}

const MAX_SAMPLING_TOKENS = 4_000;
const MAX_SHOWN_CHARS = 20_000;

export function answerServer(deps: ServerRequestDeps): AnswerServer {
  return (client, current) => {
    client.setRequestHandler("roots/list", () => ({
      roots: [{ uri: pathToFileURL(deps.workspace).href, name: "workspace" }],
    }));
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      const call = requireCall(current());
      const asked = params as Record<string, unknown>;
      const messages = toMessages(asked["messages"]);
      const system = typeof asked["systemPrompt"] === "string" ? asked["systemPrompt"] : "";
      const shown = [system, ...messages.map(({ text }) => text)].join("\n\n");
      await requireApproval(deps, call, `MCP server ${deps.id} asks your model`, shown);
      const tokens = Math.min(Number(asked["maxTokens"]) || MAX_SAMPLING_TOKENS, MAX_SAMPLING_TOKENS);
      return askOwnModel(deps, call, { messages, system, tokens });
    });
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const call = requireCall(current());
      const asked = params as Record<string, unknown>;
      if (call.client?.can("elicitation/create") === true) {
        const { form } = await call.client.ask({ form: { method: "elicitation/create", params: asked } });
        return form as never;
      }
      const content = defaultsOf(asked["requestedSchema"]);
      const text = `${String(asked["message"])}\n\n${JSON.stringify(content ?? asked["requestedSchema"] ?? asked["url"], null, 2)}`;
      const isAllowed = await askOwner(deps, call, `MCP server ${deps.id} asks for input`, text);
      if (!isAllowed) return { action: "decline" as const };
      // An approval has no fields: it accepts only the values that the server suggested.
      return content === undefined ? { action: "cancel" as const } : { action: "accept" as const, content };
    });
  };
}

function requireCall(call: ToolCall | undefined): ToolCall {
  if (call !== undefined) return call;
  throw new OpenClawError("mcp.no-call", "requests to the client are answered only during a tool call");
}

async function requireApproval(deps: ServerRequestDeps, call: ToolCall, title: string, text: string): Promise<void> {
  if (await askOwner(deps, call, title, text)) return;
  throw new OpenClawError("mcp.denied", "the owner did not allow it");
}

/** False when it is denied, when it expires and when there is no way to ask. */
async function askOwner(
  { id, broker }: ServerRequestDeps,
  call: ToolCall,
  title: string,
  text: string,
): Promise<boolean> {
  if (broker === undefined) return false;
  const shown = neutralize(text);
  // The owner approves all of it or nothing.
  if (shown.length > MAX_SHOWN_CHARS)
    throw new OpenClawError(
      "mcp.too-long",
      `what is asked is longer than the ${MAX_SHOWN_CHARS} characters an owner can read`,
    );
  const approval = await broker.askForClient({
    kind: "config",
    agent: call.agent,
    session: call.session,
    body: { server: id },
    card: { title, text: shown, rows: [{ label: "Server", value: id }] },
  });
  try {
    const decision = await broker.wait(approval.id, call.signal);
    return decision !== null && decision !== "deny" && (await broker.begin(approval.id));
  } finally {
    await broker.withdraw(approval.id, "the tool call ended");
    await broker.finish(approval.id);
  }
}

interface SamplingMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

function toMessages(raw: unknown): SamplingMessage[] {
  if (!Array.isArray(raw)) return [];
  return raw.flatMap((entry): SamplingMessage[] => {
    if (!isRecord(entry)) return [];
    const blocks: unknown[] = Array.isArray(entry["content"]) ? entry["content"] : [entry["content"]];
    const text = blocks.flatMap((block) => (isRecord(block) && typeof block["text"] === "string" ? block["text"] : []));
    return [{ role: entry["role"] === "assistant" ? "assistant" : "user", text: text.join("\n") }];
  });
}

async function askOwnModel(
  { askModel, models }: ServerRequestDeps,
  call: ToolCall,
  { messages, system, tokens }: { messages: readonly SamplingMessage[]; system: string; tokens: number },
) {
  if (askModel === undefined || models === undefined)
    throw new OpenClawError("mcp.no-model", "sampling works only inside the running gateway");
  // One message with the whole exchange: roles that a server chose are not turns of our agent.
  const text = messages.map(({ role, text: said }) => `${role}: ${said}`).join("\n\n");
  const question: Message = {
    role: "user",
    content: [{ type: "text", text: neutralize(text) }],
    timestamp: Date.now(),
  };
  const answer = await askModel()({
    agentId: call.agent,
    sessionKey: call.session,
    models: await models.candidates({ agentId: call.agent }),
    system,
    messages: [question],
    maxTokens: tokens,
    signal: call.signal,
  });
  const { provider, id } = answer.ref;
  return {
    role: "assistant" as const,
    model: `${provider}/${id}`,
    content: { type: "text" as const, text: answer.text },
    stopReason: "endTurn",
  };
}

type FormValue = string | number | boolean | string[];

/** The values that a form suggests; undefined when a required one has none. */
function defaultsOf(schema: unknown): Record<string, FormValue> | undefined {
  if (!isRecord(schema) || !isRecord(schema["properties"])) return undefined;
  const required: unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const values: Record<string, FormValue> = {};
  for (const [name, field] of Object.entries(schema["properties"])) {
    if (!isRecord(field)) return undefined;
    const suggested = field["default"] ?? (field["type"] === "boolean" ? true : undefined);
    if (suggested !== undefined) values[name] = suggested as FormValue;
    else if (required.includes(name)) return undefined;
  }
  return values;
}
