// Connects to servers whose tools were never seen, once for all turns that ask meanwhile, with a pause after a failure.
import { OpenClawError } from "../../core/error.ts";
import type { McpClientDeps } from "./client-deps.ts";
import type { McpServer } from "./servers.ts";

interface Discovery {
  done: Promise<void>;
  failedAt?: number;
  error?: OpenClawError;
}

/** How long a server that failed is not asked again for its tools. */
const PAUSE_MS = 60_000;

export class Discoveries {
  readonly #deps: Pick<McpClientDeps, "clock" | "log">;
  readonly #connect: (server: McpServer) => Promise<unknown>;
  readonly #byServer = new Map<string, Discovery>();

  /** `connect` resolves when the tools of the server are recorded. */
  constructor(deps: Pick<McpClientDeps, "clock" | "log">, connect: (server: McpServer) => Promise<unknown>) {
    this.#deps = deps;
    this.#connect = connect;
  }

  /** Never rejects; `problem` has the reason. */
  discover(server: McpServer): Promise<void> {
    const { clock, log } = this.#deps;
    const known = this.#byServer.get(server.id);
    const isPausing = known?.failedAt !== undefined && clock.ticks() - known.failedAt < PAUSE_MS;
    if (known !== undefined && (known.failedAt === undefined || isPausing)) return known.done;
    const entry: Discovery = { done: Promise.resolve() };
    entry.done = this.#connect(server).then(
      () => void this.#byServer.delete(server.id),
      (error: unknown) => {
        entry.failedAt = clock.ticks();
        if (error instanceof OpenClawError) entry.error = error;
        log.warn(`the tools of MCP server ${server.id} are not available`, { error });
      },
    );
    this.#byServer.set(server.id, entry);
    return entry.done;
  }

  problem(id: string): OpenClawError | undefined {
    return this.#byServer.get(id)?.error;
  }
}
