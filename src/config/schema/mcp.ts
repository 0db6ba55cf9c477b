// `mcp`: servers of the Model Context Protocol whose tools agents may use.
import { Type } from "../../core/schema.ts";
import { choice, closed, flag, group, record, secret, section, text, texts, whole } from "./field.ts";

const server = closed({
  enabled: flag("Offers the tools of this server.", { default: true }),
  command: text("Program that serves over standard input and output. Set either command or url."),
  args: texts("Arguments of the program."),
  env: record(
    "Environment variables of the program. Few variables of the gateway are inherited, and no secret.",
    Type.String(),
  ),
  cwd: text("Folder that the program starts in.", { fallback: "the workspace of the agent" }),
  url: text("URL of a server that speaks streamable HTTP. Set either command or url.", { pattern: "^https?://" }),
  headers: record("Headers of every request to url.", Type.String({ sensitive: true })),
  oauth: group("Login at a server that asks for it: openclaw mcp login <id>.", {
    clientId: text("Client id, for a server that does not register clients itself."),
    clientSecret: secret("Secret of that client."),
    scope: text("Scopes to ask for, separated by spaces.", { fallback: "what the server names" }),
    redirectPort: whole("Loopback port that the login returns to.", { maximum: 65_535, fallback: "a free port" }),
  }),
  timeoutMs: whole("Milliseconds without an answer or a report of progress until a call fails.", {
    minimum: 100,
    maximum: 86_400_000,
    default: 60_000,
  }),
  tools: group(
    "Which tools of this server exist at all. Rules for agents and chats are in tools.allow and tools.deny.",
    {
      allow: texts("Only these tools, by their names on the server; * matches any characters."),
      deny: texts("Never these tools."),
    },
  ),
});

export const mcp = section("Tools of Model Context Protocol (MCP) servers.", {
  servers: record("Servers by id. Their tools are named <id>__<tool>.", server),
  toolSearch: choice(
    "Offers one search tool (mcp_tools) instead of every tool: always, never, or with more than 20 tools.",
    ["auto", "on", "off"],
    { default: "auto" },
  ),
});
