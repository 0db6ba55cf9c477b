// `openclaw mcp`: the tools of a session for a program that starts its MCP servers itself.
import { OpenClawError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { bridgeMcp } from "../mcp-bridge.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  options: {
    session: { type: "string", value: "key", description: "Session whose rules hold (default: main)." },
    ...wireOptions,
  },
  examples: [
    { line: "mcp", does: "what an MCP client is given as the command of a server" },
    { line: "mcp --session agent:work:main", does: "with what agent work may use" },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const target = await targetOf(io, options);
    if (target.tlsFingerprint !== undefined)
      throw new OpenClawError("cli.no-pinning", "a pinned certificate cannot be checked by this command yet", {
        hint: "reach the gateway through ssh, or by a name whose certificate is publicly trusted",
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
