// The tools that a config alone names, for checks of tool lists that run without a gateway.
import type { Config } from "../../config/schema/index.ts";
import { coreTools } from "./groups.ts";
import type { ToolUniverse } from "./shape.ts";

/** The tools of MCP servers are known to a gateway only; the ids of the servers are enough to read the lists. */
export function universeOf({ mcp }: Config): ToolUniverse {
  const servers = Object.keys(mcp?.servers ?? {}).map((id) => ({ id, mcp: true as const, tools: [] }));
  return { core: coreTools, plugins: servers };
}
