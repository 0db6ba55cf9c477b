// What the methods of one MCP server share: providers, sessions, signed states, open streams.
import type { ServerInfo } from "../message.ts";
import type { ChangePorts } from "./changes.ts";
import type { Exchange } from "./exchange.ts";
import type { McpPorts } from "./ports.ts";
import type { McpUser, PromptProvider, ResourceProvider } from "./registry.ts";
import { createRequestStates, type RequestStates } from "./request-state.ts";
import { createSessions, type McpSessions } from "./session.ts";
import { sessionResources } from "./session-resources.ts";
import { workspaceResources } from "./workspace-resources.ts";

export interface ServerParts {
  readonly ports: McpPorts;
  readonly resources: readonly ResourceProvider[];
  readonly prompts: readonly PromptProvider[];
  readonly sessions: McpSessions;
  readonly states: RequestStates;
  readonly serverInfo: ServerInfo;
  readonly capabilities: Readonly<Record<string, object>>;
  readonly changes: ChangePorts;
  /** Ends each stream that waits for changes. */
  readonly waiting: Set<() => void>;
  readonly redact: (value: object) => object;
}

export function createParts(ports: McpPorts): ServerParts {
  const { catalog, registry, followConfig } = ports;
  const prompts = registry?.prompts ?? [];
  const resources = [workspaceResources(catalog), sessionResources, ...(registry?.resources ?? [])];
  return {
    ports,
    resources,
    prompts,
    sessions: createSessions(ports.clock),
    states: createRequestStates(ports.clock),
    serverInfo: { name: "openclaw", version: ports.version },
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true },
      completions: {},
      ...(prompts.length === 0 ? {} : { prompts: { listChanged: true } }),
    },
    changes: { catalog, followConfig, registry, resources },
    waiting: new Set(),
    redact: (value) => JSON.parse(ports.mask(JSON.stringify(value))) as object,
  };
}

export async function userOf(
  { caller, signal }: Pick<Exchange, "caller" | "signal">,
  { catalog, callTool }: Pick<McpPorts, "catalog" | "callTool">,
): Promise<McpUser> {
  const who = await caller.subject();
  return {
    subject: who.subject,
    signal,
    allows(tool) {
      const { decision, tool: built, unavailable } = catalog.judge(who.subject, tool);
      return decision.allowed && built !== undefined && unavailable === undefined;
    },
    call: (tool, args) => callTool({ ...who, tool, args, caller: "mcp", signal }),
  };
}
