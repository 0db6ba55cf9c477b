// Serves our tools over the Model Context Protocol: one message in, one answer out, without state between them.
import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import { isRecord } from "../core/record.ts";
import type { Log } from "../base/log.ts";
import type { CallTool } from "../tool/call.ts";
import type { Catalog, OfferedTool } from "../tool/catalog.ts";
import type { Subject } from "../tool/subject.ts";
import type { Intent, ToolResult } from "../tool/tool.ts";
import { readBatch, readMessage, refusal, result, RPC, SHAKEN, STATED } from "./message.ts";
import type { HeaderClaims, RpcAnswer, RpcRequest, ServerInfo } from "./message.ts";

export interface McpPorts {
  readonly version: string;
  readonly catalog: Pick<Catalog, "offered" | "effect">;
  readonly callTool: CallTool;
  readonly log: Log;
}

/** Who asks. Throws for a session that cannot be; asked only when a tool is listed or called. */
export interface McpCaller {
  subject(): Promise<{ readonly subject: Subject; readonly turn?: string }>;
  readonly claims: HeaderClaims;
  readonly signal: AbortSignal;
}

export async function answerMcp(message: unknown, caller: McpCaller, ports: McpPorts): Promise<RpcAnswer> {
  const batch = readBatch(message, caller.claims);
  if (batch === undefined) return answerOne(message, caller, ports);
  if ("status" in batch) return batch;
  const answers: object[] = [];
  // In order: a later call may build on what an earlier one did.
  for (const one of batch) {
    const { body } = await answerOne(one, caller, ports);
    if (body !== undefined) answers.push(body);
  }
  return answers.length === 0 ? { status: 202 } : { status: 200, body: answers };
}

async function answerOne(message: unknown, caller: McpCaller, ports: McpPorts): Promise<RpcAnswer> {
  const request = readMessage(message, caller.claims);
  if ("status" in request) return request;
  if (request.id === undefined) return { status: 202 };
  try {
    return await answer(request, caller, ports);
  } catch (error) {
    if (error instanceof OpenClawError) return refusal(200, RPC.badParams, wordsOf(error), request.id, factsOf(error));
    ports.log.error("unexpected failure in an MCP request", { error });
    return refusal(200, RPC.internal, "internal error", request.id);
  }
}

async function answer(request: RpcRequest, caller: McpCaller, ports: McpPorts): Promise<RpcAnswer> {
  const { method, params, id, revision } = request;
  const serverInfo = infoOf(ports);
  const done = (value: Readonly<Record<string, unknown>>): RpcAnswer => result(request, value, serverInfo);
  const unknown = (): RpcAnswer =>
    refusal(revision === undefined ? 200 : 404, RPC.unknownMethod, `unknown method: ${visible(method, 80)}`, id);
  if (eraOf[method] === (revision === undefined ? "stated" : "shaken")) return unknown();
  switch (method) {
    case "initialize": {
      const protocolVersion = SHAKEN.find((known) => known === params["protocolVersion"]) ?? SHAKEN[0];
      return done({ protocolVersion, capabilities: { tools: {} }, serverInfo });
    }
    case "server/discover":
      return done({ supportedVersions: [...STATED, ...SHAKEN], capabilities: { tools: {} }, ...ownList });
    case "ping":
      return done({});
    case "tools/list":
      // The list is one page, so no cursor was ever given out.
      if (params["cursor"] !== undefined) return refusal(200, RPC.badParams, "unknown cursor: list from the start", id);
      return done({ tools: await listed(caller, ports), ...(revision === undefined ? {} : ownList) });
    case "tools/call":
      return call(request, caller, ports);
    default:
      return unknown();
  }
}

const infoOf = ({ version }: McpPorts): ServerInfo => ({ name: "openclaw", version });

/** Methods that only one way to agree on a revision has. */
const eraOf: Readonly<Record<string, "shaken" | "stated" | undefined>> = {
  initialize: "shaken",
  ping: "shaken",
  "server/discover": "stated",
};

/** What policy shows may change with every edit of the config, and is one caller's own. */
const ownList = { ttlMs: 0, cacheScope: "private" } as const;

async function listed(caller: McpCaller, { catalog }: McpPorts): Promise<unknown[]> {
  const { subject } = await caller.subject();
  return catalog.offered(subject).map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.parameters,
    annotations: annotationsOf(tool, (args) => catalog.effect(subject, tool.name, args)),
  }));
}

const looks: ReadonlySet<unknown> = new Set<Intent["does"]>(["look", "read", "fetch"]);
const harms: ReadonlySet<unknown> = new Set<Intent["does"] | undefined>(["write", "run", "admin", undefined]);
const reaches: ReadonlySet<unknown> = new Set<Intent["does"] | undefined>(["fetch", "send", "run", undefined]);

/** Derived from the effects of its actions; an unknown effect counts as destructive. */
function annotationsOf(
  { summary, parameters }: OfferedTool,
  effect: (args: Record<string, unknown>) => Intent["does"] | undefined,
): Record<string, unknown> {
  const verbs = verbsOf(parameters);
  const effects = verbs.length === 0 ? [effect({})] : verbs.map((action) => effect({ action }));
  return {
    title: summary,
    readOnlyHint: effects.every((does) => looks.has(does)),
    destructiveHint: effects.some((does) => harms.has(does)),
    openWorldHint: effects.some((does) => reaches.has(does)),
  };
}

function verbsOf(parameters: unknown): string[] {
  const properties = isRecord(parameters) ? parameters["properties"] : undefined;
  const action = isRecord(properties) ? properties["action"] : undefined;
  if (!isRecord(action)) return [];
  const words = Array.isArray(action["enum"])
    ? action["enum"]
    : Array.isArray(action["anyOf"])
      ? action["anyOf"].map((one: unknown) => (isRecord(one) ? one["const"] : undefined))
      : [];
  return words.filter((word) => typeof word === "string");
}

const absent: ReadonlySet<string> = new Set(["tool.refused", "tool.unknown", "tool.unavailable"]);

async function call(request: RpcRequest, caller: McpCaller, ports: McpPorts): Promise<RpcAnswer> {
  const { name, arguments: args } = request.params;
  if (typeof name !== "string" || name.trim() === "")
    return refusal(200, RPC.badParams, "tools/call needs a name", request.id);
  const who = await caller.subject();
  try {
    return result(
      request,
      contentOf(await ports.callTool({ tool: name.trim(), args, ...who, caller: "mcp", signal: caller.signal })),
      infoOf(ports),
    );
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    const facts = factsOf(error);
    // A tool this caller does not have is no tool to it; what a tool says while it works is for the model.
    if (absent.has(error.code))
      return refusal(200, RPC.badParams, `Tool not available: ${wordsOf(error)}`, request.id, facts);
    const content = [{ type: "text", text: wordsOf(error) }];
    return result(request, { content, structuredContent: facts, isError: true }, infoOf(ports));
  }
}

function contentOf({ content, details, isError }: ToolResult): Record<string, unknown> {
  return {
    content,
    ...(isRecord(details) ? { structuredContent: details } : {}),
    ...(isError === true ? { isError } : {}),
  };
}

function wordsOf({ message, hint }: OpenClawError): string {
  return hint === undefined ? message : `${message} (fix: ${hint})`;
}

function factsOf({ code, message, hint, details }: OpenClawError): Record<string, unknown> {
  const more = isRecord(details) ? details : {};
  return { code, reason: message, ...(hint === undefined ? {} : { hint }), ...more };
}
