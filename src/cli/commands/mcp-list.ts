// `openclaw mcp list`: the configured MCP servers and what is known of their tools; starts none of them.
import { isLoggedIn } from "../../mcp/client/login.ts";
import type { Pinned } from "../../mcp/client/pins.ts";
import { allServers, identityOf, type McpServer } from "../../mcp/client/servers.ts";
import { defineCommand } from "../command.ts";
import { withMcp } from "../mcp-here.ts";
import { table, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

interface Row {
  readonly id: string;
  readonly transport: "stdio" | "http";
  readonly target: string;
  readonly enabled: boolean;
  readonly state: string;
  readonly tools: readonly string[];
}

export const command = defineCommand({
  details: "Reads the config and the approved tools. To start a server and ask it, use: openclaw mcp test <id>",
  examples: [
    { line: "mcp list", does: "servers, their state and how many tools each has" },
    { line: "mcp list --json", does: "with the names of the tools" },
  ],
  async run(io) {
    const loaded = await requireConfig(io);
    const { state } = io.paths();
    const rows = await withMcp(io, loaded, async ({ pins }) =>
      allServers(loaded.config).map((server) =>
        toRow(server, pins.read(server.id, identityOf(server.config)), isLoggedIn(server, state)),
      ),
    );
    if (io.json) io.print(toJson({ servers: rows }));
    else if (rows.length === 0) io.print("No MCP servers. Add one with: openclaw mcp add <id> -- <command>");
    else io.print(table(rows, columns, io).join("\n"));
    return 0;
  },
});

function toRow({ id, config, problem }: McpServer, pinned: Pinned | undefined, hasLogin: boolean): Row {
  const { command: program = "", args = [], url } = config;
  const login = url !== undefined && hasLogin ? ", logged in" : "";
  return {
    id,
    transport: url === undefined ? "stdio" : "http",
    target: url ?? [program, ...args].join(" "),
    enabled: config.enabled ?? true,
    state: problem ?? `${stateOf(id, pinned)}${login}`,
    tools: pinned?.tools.map(({ name }) => name) ?? [],
  };
}

function stateOf(id: string, pinned: Pinned | undefined): string {
  if (pinned === undefined) return "not connected yet";
  return pinned.pending === undefined ? "approved" : `changed: openclaw mcp approve ${id}`;
}

const columns = [
  { title: "ID", text: ({ id }: Row) => id },
  { title: "STATE", text: ({ state }: Row) => state },
  { title: "TOOLS", text: ({ tools }: Row) => String(tools.length) },
  { title: "SERVER", text: ({ target }: Row) => target },
];
