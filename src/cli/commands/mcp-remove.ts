// `openclaw mcp remove`: removes an MCP server with its approval and its login.
import { forgetLogin } from "../../mcp/client/login.ts";
import { defineCommand } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { requireServer, withMcp } from "../mcp-here.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details: "To turn it off and keep its settings, use: openclaw config set mcp.servers.<id>.enabled false",
  arguments: [{ name: "id", description: "The server." }],
  examples: [{ line: "mcp remove files", does: "its config, its approved tools and its login" }],
  async run(io, { arguments: [id = ""] }) {
    const loaded = await requireConfig(io);
    requireServer(loaded, id);
    const change = editConfig(io, `mcp.servers.${id}`, () => [{ path: ["mcp", "servers", id], remove: true }]);
    await withMcp(io, loaded, async ({ pins }) => pins.forget(id));
    forgetLogin(io.paths().state, id);
    reportChange(io, change, `removed MCP server ${id}`);
    return 0;
  },
});
