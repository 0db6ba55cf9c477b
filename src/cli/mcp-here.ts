// MCP servers for commands: connects from this process, without a gateway, and prints what a server declares.
import { createMask } from "../base/mask.ts";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { unifiedDiff } from "../base/line-diff.ts";
import { readVersion } from "../base/version.ts";
import { defaultAgentId, workspaceOf } from "../config/agents.ts";
import type { LoadedConfig } from "../config/load.ts";
import { secretsIn } from "../config/redact.ts";
import { OpenClawError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { createMcpClient, type McpClient } from "../mcp/client/client.ts";
import { changesBetween, type RemoteTool, type ToolChanges } from "../mcp/client/remote-tool.ts";
import { allServers, type McpServer } from "../mcp/client/servers.ts";
import { createGuard } from "../media/guard/guard.ts";
import type { Io } from "./io.ts";
import { oneLine, safe } from "./print.ts";

/** Ends every server that it started. */
export async function withMcp<T>(
  io: Io,
  { config, env }: LoadedConfig,
  work: (client: McpClient) => Promise<T>,
): Promise<T> {
  const paths = io.paths();
  const client = createMcpClient({
    paths,
    env,
    version: readVersion(),
    clock: systemClock,
    log: silentLog,
    mask: createMask(secretsIn(config, env)),
    config: () => config,
    guard: createGuard({ config: () => config, env }),
    workspace: () => workspaceOf(config, defaultAgentId(config), paths),
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

export function requireServer({ config }: LoadedConfig, id: string): McpServer {
  const servers = allServers(config);
  const found = servers.find((server) => server.id === id);
  if (found !== undefined) return found;
  const near = nearest(
    id,
    servers.map((server) => server.id),
  );
  throw new OpenClawError("mcp.unknown", `no MCP server is named ${JSON.stringify(id)} (mcp.servers)`, {
    hint: near === undefined ? "openclaw mcp list" : `did you mean ${near}?`,
  });
}

/** One line for each tool, as a person should read it before the approval. */
export function toolLines(tools: readonly RemoteTool[]): string[] {
  return tools.map(({ name, description }) => `  ${safe(name)}: ${oneLine(safe(description)).slice(0, 300)}`);
}

export function changeLines({ added, changed, removed }: ToolChanges): string[] {
  return [
    ...(added.length === 0 ? [] : ["New tools:", ...toolLines(added)]),
    ...changed.flatMap(({ before, after }) => [
      `Changed: ${safe(after.name)}`,
      safe(unifiedDiff(textOf(before), textOf(after), { name: after.name, maxChars: 4_000 })),
    ]),
    ...(removed.length === 0 ? [] : [`No longer there: ${removed.map(({ name }) => safe(name)).join(", ")}`]),
  ];
}

/** For programs: names alone. */
export function changeNames(before: readonly RemoteTool[], after: readonly RemoteTool[]): Record<string, string[]> {
  const { added, changed, removed } = changesBetween(before, after);
  return {
    added: added.map(({ name }) => name),
    changed: changed.map((change) => change.after.name),
    removed: removed.map(({ name }) => name),
  };
}

function textOf({ description, inputSchema, outputSchema }: RemoteTool): string {
  return `${description}\n${JSON.stringify({ inputSchema, outputSchema }, null, 1)}\n`;
}
