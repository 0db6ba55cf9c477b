// The configured MCP servers: what each is, which are in use, and what identifies one for the owner's approval.
import { sha256 } from "../../base/ids.ts";
import type { Config } from "../../config/schema/index.ts";
import { canonicalName, coreTools } from "../../tool/policy/groups.ts";

export type ServerConfig = NonNullable<NonNullable<Config["mcp"]>["servers"]>[string];

export interface McpServer {
  readonly id: string;
  readonly config: ServerConfig;
  /** Why it is not used; undefined when it is. */
  readonly problem: string | undefined;
}

export function allServers({ mcp }: Config): McpServer[] {
  return Object.entries(mcp?.servers ?? {}).map(([id, config]) => ({ id, config, problem: problemOf(id, config) }));
}

/** Asked for with every tool call, so the answer is kept as long as the config. */
export function usedServers(config: Config): readonly McpServer[] {
  const known = used.get(config);
  if (known !== undefined) return known;
  const servers = allServers(config).filter(({ problem }) => problem === undefined);
  used.set(config, servers);
  return servers;
}

const used = new WeakMap<Config, readonly McpServer[]>();

function problemOf(id: string, { enabled = true }: ServerConfig): string | undefined {
  if (!enabled) return "disabled";
  // In a tool list the word would mean the core tool, so the server could neither be allowed nor denied.
  return coreTools.has(canonicalName(id)) ? "its id is the name of a core tool; rename the server" : undefined;
}

/** The program or address that the owner approved tools of. Secrets and time limits can change without a new approval. */
export function identityOf(config: ServerConfig): string {
  const { command, args = [], cwd, url } = config;
  const identity = identities.get(config) ?? sha256(JSON.stringify([command, args, cwd, url]));
  identities.set(config, identity);
  return identity;
}

const identities = new WeakMap<ServerConfig, string>();
