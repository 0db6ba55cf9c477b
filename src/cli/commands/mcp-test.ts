// `openclaw mcp test`: connects to an MCP server and shows whether it works and whether its tools are the approved ones.
import { changesBetween, hasChanges } from "../../mcp/client/remote-tool.ts";
import { identityOf } from "../../mcp/client/servers.ts";
import { defineCommand } from "../command.ts";
import { changeLines, changeNames, requireServer, toolLines, withMcp } from "../mcp-here.ts";
import { counted, safe, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details: "Starts a separate copy of a program; the running gateway is not touched.",
  arguments: [{ name: "id", description: "The server." }],
  examples: [
    { line: "mcp test files", does: "connects and lists the tools" },
    { line: "mcp test files --json", does: "as JSON" },
  ],
  exits: "0 it works with the approved tools, 1 it does not answer or its tools changed",
  async run(io, { arguments: [id = ""] }) {
    const loaded = await requireConfig(io);
    const server = requireServer(loaded, id);
    return withMcp(io, loaded, async (client) => {
      const startedAt = performance.now();
      const connection = client.connect(server);
      const approved = client.pins.read(id, identityOf(server.config))?.tools;
      const tools = await connection.tools();
      const { name, version, protocol } = await connection.facts();
      const ms = Math.round(performance.now() - startedAt);
      const changes = changesBetween(approved ?? tools, tools);
      const isSame = !hasChanges(changes);
      if (io.json)
        io.print(
          toJson({
            ok: isSame,
            server: { name, version, protocol },
            ms,
            tools: tools.map((tool) => ({ name: tool.name, description: tool.description })),
            changes: changeNames(approved ?? tools, tools),
          }),
        );
      else {
        const facts = `${safe(name)} ${safe(version)}, protocol ${safe(protocol)}, ${ms} ms`;
        io.print([`${id} answers: ${facts}, ${counted(tools.length, "tool")}`, ...toolLines(tools)].join("\n"));
        if (!isSame)
          io.say([...changeLines(changes), `Approve the changes with: openclaw mcp approve ${id}`].join("\n"));
      }
      return isSame ? 0 : 1;
    });
  },
});
