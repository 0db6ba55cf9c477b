// The mcp_tools tool: finds tools of MCP servers by words and calls them, so that hundreds of them cost one schema.
import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { Type } from "../../core/schema.ts";
import { wrapUntrusted } from "../../base/untrusted-content.ts";
import { canonicalName, mcpSearchTool } from "../../tool/policy/groups.ts";
import { defineTool, type Tool } from "../../tool/tool.ts";

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;
const MAX_NAMED_SERVERS = 20;

const params = Type.Object(
  {
    search: Type.Optional(
      Type.String({
        description: "Words that describe the tool you need. Returns names, what each does, and its schema.",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LIMIT,
        description: `How many tools to return (default ${DEFAULT_LIMIT}).`,
      }),
    ),
    name: Type.Optional(Type.String({ description: "Name of the tool to call, as search returned it." })),
    arguments: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "Arguments of that tool, as its schema says." }),
    ),
  },
  { additionalProperties: false },
);

/** `all` are the tools of every server in use; each search checks which of them the caller may use. */
export function createSearchTool(all: () => readonly Tool[]): Tool {
  const find = (name: string): Tool | undefined =>
    all().find((tool) => tool.name === canonicalName(name) || tool.name === name);
  return defineTool({
    name: mcpSearchTool,
    summary: "Find and call tools of connected services (MCP servers)",
    description:
      "Find and call tools of the connected MCP servers. First call it with search; then call it again with name and arguments, following the schema that search returned.",
    params,
    delegate(args) {
      const name = typeof args["name"] === "string" ? args["name"] : "";
      const target = name === "" ? undefined : find(name);
      return target === undefined ? undefined : { tool: target.name, args: argumentsOf(args["arguments"]) };
    },
    prepare: (raw) => ("arguments" in raw ? { ...raw, arguments: argumentsOf(raw["arguments"]) } : raw),
    intent: () => ({ does: "look" }),
    async run({ search = "", limit = DEFAULT_LIMIT, name }, call) {
      const usable = all().filter((tool) => call.allows(tool.name));
      if (name !== undefined && name !== "") throw unknownTool(name, usable);
      const found = rank(usable, search).slice(0, limit);
      const tools = found.map(({ name: called, description, params: schema }) => ({
        name: called,
        description,
        schema,
      }));
      const note =
        found.length === 0
          ? `No tool matches. ${usable.length} tools are available on: ${serversOf(usable)}.`
          : `${found.length} of ${usable.length} tools. Call one with name and arguments.`;
      const text = found.length === 0 ? note : `${note}\n${wrapUntrusted(JSON.stringify(tools), "mcp")}`;
      return { content: [{ type: "text", text }], details: { tools, total: usable.length } };
    },
  }) as Tool;
}

/** For a request: names the servers whose tools this caller may use. */
export function describeFor(tool: Tool, usable: readonly Tool[]): Tool {
  return { ...tool, description: `${tool.description} ${usable.length} tools on: ${serversOf(usable)}.` };
}

function serversOf(tools: readonly Tool[]): string {
  const counts = new Map<string, number>();
  for (const { name } of tools) {
    const [id = ""] = name.split("__", 1);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const named = [...counts].slice(0, MAX_NAMED_SERVERS).map(([id, count]) => `${id} (${count})`);
  return [...named, ...(counts.size > MAX_NAMED_SERVERS ? [`${counts.size - MAX_NAMED_SERVERS} more`] : [])].join(", ");
}

/** More words first; a word in the name counts more than one in the description. Without words, the order of the servers. */
function rank(tools: readonly Tool[], search: string): Tool[] {
  const words = [...new Set(search.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  if (words.length === 0) return [...tools];
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .map(({ tool }) => tool);
}

function scoreOf({ name, description }: Tool, words: readonly string[]): number {
  const [inName, inText] = [name.toLowerCase(), description.toLowerCase()];
  return words.reduce((sum, word) => sum + (inName.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0), 0);
}

/** Some models write the arguments as JSON text. */
function argumentsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "string") return isRecord(value) ? value : {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {}; // the tool's own check names what is missing
  }
}

function unknownTool(name: string, usable: readonly Tool[]): ToolError {
  const [near] = rank(usable, name.replaceAll("_", " "));
  return new ToolError(
    "tool.unknown",
    `no connected MCP server has a tool named ${JSON.stringify(name.slice(0, 100))}`,
    {
      hint: near === undefined ? "search first" : `did you mean ${near.name}?`,
    },
  );
}
