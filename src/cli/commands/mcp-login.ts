// `openclaw mcp login`: the OAuth login at an MCP server, through the person's browser and a loopback address.
import { OpenClawError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { onInterrupt } from "../interrupt.ts";
import { requireServer, withMcp } from "../mcp-here.ts";
import { counted, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details:
    "Prints an address to open in your browser and waits until you have agreed there. Tokens are kept in a private file of the state folder and are renewed when they expire.",
  arguments: [{ name: "id", description: "The server." }],
  examples: [
    { line: "mcp login tracker", does: "log in" },
    { line: "mcp login tracker --json", does: "prints the result as JSON; the address is on stderr" },
  ],
  async run(io, { arguments: [id = ""] }) {
    const loaded = await requireConfig(io);
    const server = requireServer(loaded, id);
    if (server.config.url === undefined)
      throw new OpenClawError("mcp.no-login", `MCP server ${id} is a program and needs no login`, {
        hint: `set its secrets with: openclaw config set mcp.servers.${id}.env.<NAME>`,
      });
    const stopped = new AbortController();
    const release = onInterrupt(() =>
      stopped.abort(new OpenClawError("cli.stopped", "stopped before the login was done")),
    );
    try {
      return await withMcp(io, loaded, async (client) => {
        await client.login(server, {
          show: (url) => io.say(`Open this address in your browser:\n${url}`),
          signal: stopped.signal,
        });
        const tools = await client.connect(server).tools();
        if (io.json) io.print(toJson({ ok: true, tools: tools.length }));
        else io.print(`logged in at MCP server ${id}; it has ${counted(tools.length, "tool")}`);
        return 0;
      });
    } finally {
      release();
    }
  },
});
