// The tools of the configured MCP servers: known from approved lists without starting a server, called through connections
// that open with their first use.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../../core/error.ts";
import type { ChangingTools, ToolSet } from "../../tool/catalog.ts";
import { canonicalName, mcpSearchTool } from "../../tool/policy/groups.ts";
import type { Tool } from "../../tool/tool.ts";
import type { McpClientDeps } from "./client-deps.ts";
import type { Connection } from "./connection.ts";
import { Connections, type ConnectOptions } from "./connections.ts";
import { Discoveries } from "./discoveries.ts";
import { toFailure } from "./failure.ts";
import { createPins, type Pins } from "./pins.ts";
import { createSearchTool, describeFor } from "./search.ts";
import { identityOf, usedServers, type McpServer } from "./servers.ts";
import { toolsOf } from "./tools.ts";

export interface McpClient extends ChangingTools {
  readonly pins: Pins;
  /** A connection that is not shared with tool calls, for commands. */
  connect(server: McpServer, options?: ConnectOptions): Connection;
  /** Resolves when the person agreed in the browser and the tokens are stored. */
  login(server: McpServer, options: LoginRequest): Promise<void>;
  close(): Promise<void>;
}

export interface LoginRequest {
  readonly show: (url: string) => void;
  readonly signal: AbortSignal;
}

/** With more tools the model gets the search tool instead. */
const MANY_TOOLS = 20;
/** How long a turn waits for servers whose tools were never seen. */
const DISCOVERY_MS = 5_000;
const LOGIN_MS = 30_000;

export function createMcpClient(deps: McpClientDeps): McpClient {
  return new McpClientService(deps);
}

class McpClientService implements McpClient {
  readonly pins: Pins;
  readonly #deps: McpClientDeps;
  readonly #connections: Connections;
  readonly #discoveries: Discoveries;
  readonly #searchTool: Tool;
  /** Of all servers, as last offered. */
  #tools: readonly Tool[] = [];

  constructor(deps: McpClientDeps) {
    this.#deps = deps;
    this.pins = createPins(deps.paths.state);
    this.#connections = new Connections(deps, this.pins);
    this.#discoveries = new Discoveries(deps, (server) => this.#connections.shared(server, deps.workspace()).tools());
    this.#searchTool = createSearchTool(() => this.#tools);
  }

  connect(server: McpServer, options?: ConnectOptions): Connection {
    return this.#connections.connect(server, options);
  }

  async login(server: McpServer, request: LoginRequest): Promise<void> {
    const { guard, mask, paths } = this.#deps;
    const { logInByBrowser } = await import("./browser-login.ts");
    const fetch = guard.fetchFunction({ ownerUrl: server.config.url, maxRedirects: 0 });
    try {
      await logInByBrowser({ server, stateDir: paths.state, learn: mask.learn, fetch, ...request });
    } catch (error) {
      throw toFailure(error, { id: server.id, timeoutMs: LOGIN_MS });
    }
  }

  revision(): string {
    return this.#servers().length === 0 ? "" : this.pins.revision();
  }

  sets(): readonly ToolSet[] {
    const servers = this.#servers();
    this.#connections.stopOthers(servers);
    const sets = servers.map((server): ToolSet => {
      const pinned = this.#pinnedOf(server);
      const connectFor = ({ workspace }: { readonly workspace: string }) => this.#connections.shared(server, workspace);
      return { id: server.id, mcp: true, tools: pinned === undefined ? [] : toolsOf(server, pinned, connectFor) };
    });
    this.#tools = sets.flatMap((set) => set.tools);
    return this.#tools.length === 0 ? sets : [...sets, { id: "mcp", mcp: true, tools: [this.#searchTool] }];
  }

  choose(allowed: readonly Tool[]): readonly Tool[] {
    const own = new Set(this.#tools);
    const usable = allowed.filter((tool) => own.has(tool));
    const mode = this.#deps.config().mcp?.toolSearch ?? "auto";
    const many = mode === "on" ? usable.length > 0 : mode === "auto" && usable.length > MANY_TOOLS;
    const isSearchAllowed = allowed.some(({ name }) => name === mcpSearchTool);
    if (!many || !isSearchAllowed) return allowed.filter(({ name }) => name !== mcpSearchTool);
    return allowed.flatMap((tool) =>
      own.has(tool) ? [] : [tool.name === mcpSearchTool ? describeFor(tool, usable) : tool],
    );
  }

  prepare(name?: string): Promise<void> | undefined {
    const wanted = name === undefined ? undefined : canonicalName(name).split("__", 1)[0];
    const isWanted = ({ id }: McpServer): boolean => wanted === undefined || wanted === id || wanted === mcpSearchTool;
    const unseen = this.#servers().filter((server) => isWanted(server) && this.#pinnedOf(server) === undefined);
    if (unseen.length === 0) return undefined;
    const found = Promise.all(unseen.map((server) => this.#discoveries.discover(server))).then(() => undefined);
    // A call of one tool waits for its server; a turn does not wait long for servers that it may not need.
    return name === undefined ? Promise.race([found, sleep(DISCOVERY_MS, undefined, { ref: false })]) : found;
  }

  problem(name: string): OpenClawError | undefined {
    const [id = ""] = canonicalName(name).split("__", 1);
    return id === name ? undefined : this.#discoveries.problem(id);
  }

  follow(listener: () => void): () => void {
    return this.pins.follow(listener);
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  #servers(): readonly McpServer[] {
    return usedServers(this.#deps.config());
  }

  /** Undefined for a server whose tools were never seen. */
  #pinnedOf({ id, config }: McpServer): ReturnType<Pins["read"]> {
    try {
      return this.pins.read(id, identityOf(config));
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      this.#deps.log.error(error.message, { hint: error.hint });
      return { tools: [] };
    }
  }
}
