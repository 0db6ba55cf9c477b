// The connections to MCP servers: shared ones for tool calls, single ones for commands, and how each reaches its server.
import { existsSync } from "node:fs";
import type { Transport } from "@modelcontextprotocol/client";

import { expandHome, expandTilde, type Env } from "../../base/paths.ts";
import type { Clock } from "../../base/clock.ts";
import { childEnvironment } from "../../exec/environment.ts";
import { minimalPath } from "../../exec/login-path.ts";
import { createOrphanReaper } from "../../exec/orphan-reaper.ts";
import { ownMark } from "../../exec/proc.ts";
import type { McpClientDeps } from "./client-deps.ts";
import { Connection } from "./connection.ts";
import { createLogin } from "./login.ts";
import type { Pins } from "./pins.ts";
import { changesBetween, type RemoteTool } from "./remote-tool.ts";
import { identityOf, type McpServer, type ServerConfig } from "./servers.ts";
import { answerServer } from "./server-requests.ts";
import { StdioTransport } from "./stdio.ts";

export interface ConnectOptions {
  readonly workspace?: string;
  /** Default: records them in the pins. */
  readonly onTools?: (tools: readonly RemoteTool[]) => void;
}

const SETTLE_MS = 500;
const FIRST_LIST_MS = 2_000;
/** Requests of a stream stay open as long as the call; each call has its own deadline. */
const STREAM_MS = 24 * 3_600_000;
const MAX_RESPONSE_BYTES = 64_000_000;

export class Connections {
  readonly #deps: McpClientDeps;
  readonly #pins: Pins;
  /** By server and workspace. */
  readonly #shared = new Map<string, { readonly config: ServerConfig; readonly connection: Connection }>();
  readonly #open = new Set<Connection>();
  readonly #processes = lazyProcesses();

  constructor(deps: McpClientDeps, pins: Pins) {
    this.#deps = deps;
    this.#pins = pins;
  }

  /** A connection of its own. */
  connect(server: McpServer, options: ConnectOptions = {}): Connection {
    const { id, config } = server;
    const { version, clock, log, broker, askModel, models } = this.#deps;
    const { workspace = this.#deps.workspace() } = options;
    const connection = new Connection({
      id,
      timeoutMs: config.timeoutMs ?? 60_000,
      version,
      clock,
      log,
      transport: () => openTransport(server, workspace, this.#deps, this.#processes),
      answer: answerServer({ id, workspace, broker, askModel, models }),
      onTools: options.onTools ?? recordTools(this.#pins, server, clock),
    });
    this.#open.add(connection);
    return connection;
  }

  /** One for each server and workspace: what a server may see differs between agents. */
  shared(server: McpServer, workspace: string): Connection {
    const key = `${server.id} ${workspace}`;
    const { config } = server;
    const known = this.#shared.get(key);
    if (known !== undefined && isSame(known.config, config)) return known.connection;
    if (known !== undefined) this.#stop(known.connection);
    const connection = this.connect(server, { workspace });
    this.#shared.set(key, { config, connection });
    return connection;
  }

  /** Stops shared connections to servers that are no longer configured. */
  stopOthers(servers: readonly McpServer[]): void {
    for (const [key, { connection }] of this.#shared) {
      if (servers.some(({ id }) => key.startsWith(`${id} `))) continue;
      this.#shared.delete(key);
      this.#stop(connection);
    }
  }

  async close(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    await Promise.all(open.map((connection) => connection.close()));
    await this.#processes.close();
  }

  #stop(connection: Connection): void {
    this.#open.delete(connection);
    connection.close().catch((error: unknown) => this.#deps.log.warn("an MCP server did not stop", { error }));
  }
}

const isSame = (one: ServerConfig, other: ServerConfig): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/**
 * The first list of a server is approved, with what it adds right after. A changed tool is recorded immediately; one that
 * came or went is recorded when the list has settled, because many servers add tools after they start.
 */
function recordTools(pins: Pins, { id, config }: McpServer, clock: Clock): (tools: readonly RemoteTool[]) => void {
  const identity = identityOf(config);
  let settling: NodeJS.Timeout | undefined;
  let firstAt = -Infinity;
  return (tools) => {
    clearTimeout(settling);
    const approved = pins.read(id, identity)?.tools;
    if (approved === undefined) firstAt = clock.ticks();
    if (clock.ticks() - firstAt < FIRST_LIST_MS) return pins.approve(id, identity, tools);
    if (approved !== undefined && changesBetween(approved, tools).changed.length > 0)
      return pins.saw(id, identity, tools);
    settling = setTimeout(() => pins.saw(id, identity, tools), SETTLE_MS).unref();
  };
}

/** The mark of every program we start, and the process that ends them when this one is killed. */
interface Processes {
  mark(): string;
  close(): Promise<void>;
}

function lazyProcesses(): Processes {
  let started: { readonly mark: string; readonly reaper: ReturnType<typeof createOrphanReaper> } | undefined;
  let count = 0;
  return {
    mark() {
      if (started === undefined) {
        const mark = ownMark();
        started = { mark, reaper: createOrphanReaper(mark) };
      }
      started.reaper.ensure();
      return `${started.mark}.${++count}`;
    },
    close: async () => started?.reaper.close(),
  };
}

async function openTransport(
  server: McpServer,
  workspace: string,
  { paths, env, guard, mask }: McpClientDeps,
  processes: Processes,
): Promise<Transport> {
  const { id, config } = server;
  const { command, args = [], url, headers = {} } = config;
  if (url === undefined)
    return new StdioTransport({
      id,
      // A name without a folder is searched in PATH.
      command: expandTilde(command ?? "", paths.home),
      args,
      cwd:
        config.cwd === undefined
          ? existsSync(workspace)
            ? workspace
            : paths.home
          : expandHome(config.cwd, paths.home),
      env: childEnvironment({ gateway: env, call: config.env ?? {}, path: searchPath(env) }),
      mark: processes.mark(),
    });
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const hasOwnCredential = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const login = createLogin({ server, stateDir: paths.state, learn: mask.learn });
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: guard.fetchFunction({ ownerUrl: url, timeoutMs: STREAM_MS, maxBytes: MAX_RESPONSE_BYTES, maxRedirects: 0 }),
    requestInit: { headers },
    ...(hasOwnCredential && config.oauth === undefined ? {} : { authProvider: login }),
  });
}

function searchPath(env: Env): readonly string[] {
  const own = (env["PATH"] ?? "").split(":").filter((folder) => folder.startsWith("/"));
  return [...new Set([...own, ...minimalPath])];
}
