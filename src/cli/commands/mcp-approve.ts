// `openclaw mcp approve`: shows what changed in the tools of an MCP server and approves them as they are now.
import { changesBetween, hasChanges } from "../../mcp/client/remote-tool.ts";
import { identityOf } from "../../mcp/client/servers.ts";
import { confirm } from "../ask.ts";
import { defineCommand } from "../command.ts";
import { changeLines, changeNames, requireServer, withMcp } from "../mcp-here.ts";
import { counted, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details: "Until then agents cannot use a tool whose description or schema changed, nor a new one.",
  arguments: [{ name: "id", description: "The server." }],
  options: { yes: { type: "boolean", description: "Approve without asking." } },
  examples: [
    { line: "mcp approve files", does: "shows the changes and asks" },
    { line: "mcp approve files --yes --json", does: "for scripts" },
  ],
  async run(io, { options, arguments: [id = ""] }) {
    const loaded = await requireConfig(io);
    const server = requireServer(loaded, id);
    return withMcp(io, loaded, async (client) => {
      const identity = identityOf(server.config);
      const before = client.pins.read(id, identity)?.tools ?? [];
      const tools = await client.connect(server, { onTools: () => {} }).tools();
      const changes = changesBetween(before, tools);
      if (!io.json && hasChanges(changes)) io.print(changeLines(changes).join("\n"));
      if (hasChanges(changes) && options.yes !== true && !(await confirm(io, "May agents use these tools?", "--yes"))) {
        io.say("Nothing was changed.");
        return 1;
      }
      client.pins.approve(id, identity, tools);
      if (io.json) io.print(toJson({ ok: true, tools: tools.length, changes: changeNames(before, tools) }));
      else io.print(`approved ${counted(tools.length, "tool")} of MCP server ${id}`);
      return 0;
    });
  },
});
