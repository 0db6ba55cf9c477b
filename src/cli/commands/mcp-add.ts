// `openclaw mcp add`: connects to an MCP server, shows its tools, and adds it when the person agrees.
import { OpenClawError } from "../../core/error.ts";
import { substitute } from "../../config/substitute.ts";
import { identityOf, type ServerConfig } from "../../mcp/client/servers.ts";
import type { RemoteTool } from "../../mcp/client/remote-tool.ts";
import { canonicalName, coreTools } from "../../tool/policy/groups.ts";
import { confirm } from "../ask.ts";
import { defineCommand, UsageError } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import type { Io } from "../io.ts";
import { toolLines, withMcp } from "../mcp-here.ts";
import { wholeNumber } from "../parse.ts";
import { counted } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details:
    "Starts the server, or connects to it, and lists its tools. Agents use exactly these: a tool that changes later waits for openclaw mcp approve. Write the command of a program after --.",
  arguments: [
    { name: "id", description: "Short name of the server; its tools are named <id>__<tool>." },
    { name: "command", description: "Program and arguments of a server on this machine.", optional: true, many: true },
  ],
  options: {
    url: { type: "string", value: "url", description: "A server that speaks streamable HTTP." },
    env: {
      type: "string",
      multiple: true,
      value: "NAME=value",
      description: "Environment variable of the program; ${NAME} takes the value from the gateway's environment.",
    },
    header: { type: "string", multiple: true, value: "Name=value", description: "Header of every request to the URL." },
    cwd: { type: "string", value: "folder", description: "Folder that the program starts in." },
    timeout: {
      type: "string",
      value: "ms",
      description: "How long a call may take without progress (default: 60000).",
    },
    yes: { type: "boolean", description: "Approve the tools without asking." },
    "skip-test": { type: "boolean", description: "Add it without connecting; the first use approves its tools." },
  },
  examples: [
    {
      line: "mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
      does: "a program on this machine",
    },
    {
      line: "mcp add tracker --url https://mcp.example.com/mcp",
      does: "a remote server; log in with: mcp login tracker",
    },
    { line: "mcp add api --env 'API_KEY=${API_KEY}' -- ./server.js", does: "with a secret from the environment" },
  ],
  async run(io, { options, arguments: [id = "", ...words] }) {
    const loaded = await requireConfig(io);
    const written = serverConfig(words, options);
    if (loaded.config.mcp?.servers?.[id] !== undefined)
      throw new OpenClawError("mcp.exists", `an MCP server is already named ${id}`, {
        hint: `openclaw mcp remove ${id}`,
      });
    if (coreTools.has(canonicalName(id)))
      throw new OpenClawError("mcp.bad-id", `${id} is the name of a core tool`, { hint: "choose another id" });
    const resolved = substitute(written, loaded.env);
    const [missing] = resolved.missing;
    if (missing !== undefined)
      throw new OpenClawError("config.missing-variable", `the variable ${missing.name} is not set`, {
        hint: `export ${missing.name} first, or write it to the .env file of the state folder`,
      });
    const config = resolved.value as ServerConfig;
    return withMcp(io, loaded, async (client) => {
      const tools = options["skip-test"] === true ? undefined : await knownTools(client, id, config);
      if (tools !== undefined && !(await agrees(io, id, tools, options.yes === true))) {
        io.say("Nothing was changed.");
        return 1;
      }
      const change = editConfig(io, `mcp.servers.${id}`, () => [{ path: ["mcp", "servers", id], value: written }]);
      if (tools !== undefined) client.pins.approve(id, identityOf(config), tools);
      const next = tools === undefined && config.url !== undefined ? `. Log in with: openclaw mcp login ${id}` : "";
      reportChange(
        io,
        change,
        `added MCP server ${id}${tools === undefined ? "" : ` with ${counted(tools.length, "tool")}`}${next}`,
      );
      return 0;
    });
  },
});

/** Undefined when only a login is missing. */
async function knownTools(
  client: Parameters<Parameters<typeof withMcp>[2]>[0],
  id: string,
  config: ServerConfig,
): Promise<readonly RemoteTool[] | undefined> {
  try {
    return await client.connect({ id, config, problem: undefined }, { onTools: () => {} }).tools();
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    if (error.code === "mcp.login-needed") return undefined;
    throw new OpenClawError(error.code, error.message, {
      hint: "correct the command or the URL, or add the server as it is with --skip-test",
      cause: error,
    });
  }
}

async function agrees(io: Io, id: string, tools: readonly RemoteTool[], isAgreed: boolean): Promise<boolean> {
  if (!io.json) io.print([`MCP server ${id} has ${counted(tools.length, "tool")}:`, ...toolLines(tools)].join("\n"));
  return isAgreed || confirm(io, "May agents use these tools?", "--yes");
}

interface Given {
  readonly url?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
  readonly timeout?: string;
}

function serverConfig([program, ...args]: readonly string[], { url, env, header, cwd, timeout }: Given): ServerConfig {
  if ((program === undefined) === (url === undefined))
    throw new UsageError("give either a command after -- or --url", ["mcp", "add"]);
  const timeoutMs = wholeNumber("timeout", timeout, { min: 100, max: 86_400_000 });
  return {
    ...(program === undefined ? { url: url ?? "" } : { command: program }),
    ...(args.length === 0 ? {} : { args }),
    ...(env === undefined ? {} : { env: pairs("env", env) }),
    ...(header === undefined ? {} : { headers: pairs("header", header) }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

function pairs(option: string, texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new UsageError(`--${option} needs NAME=value, not ${JSON.stringify(text)}`, ["mcp", "add"]);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
