// `openclaw mcp serve`: serves the tools of a session to an MCP client that starts its servers itself.
import { OpenClawError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { bridgeMcp } from "../mcp-bridge.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  options: {
    session: { type: "string", value: "key", description: "Session whose rules apply (default: main)." },
    ...wireOptions,
  },
  examples: [
    { line: "mcp serve", does: "the server command to configure in an MCP client" },
    { line: "mcp serve --session agent:work:main", does: "with the tools of agent work" },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const target = await targetOf(io, options);
    if (target.tlsFingerprint !== undefined)
      throw new OpenClawError("cli.no-pinning", "this command cannot check a pinned certificate yet", {
        hint: "connect through ssh, or use a name with a publicly trusted certificate",
      });
    await bridgeMcp({
      target,
      headers: options.session === undefined ? {} : { "x-openclaw-session-key": options.session },
      input: process.stdin,
      write: (line) => io.write(line),
    });
    return 0;
  },
});
