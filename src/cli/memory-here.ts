// Memory for a command: through the gateway that owns the indexes or, if none runs here, in this process.
import { parseAgentId, type AgentId } from "../core/names.ts";
import { readLockOwner, stateLockOf } from "../base/lock.ts";
import { agentIds, defaultAgentId } from "../config/agents.ts";
import { OpenClawError } from "../core/error.ts";
import type { Config } from "../config/schema/index.ts";
import type { IndexReport, MemoryAnswer, MemoryStatus } from "../memory/memory.ts";
import type { Io } from "./io.ts";
import { requireConfig } from "./settings.ts";
import { targetOf, type WireFlags } from "./target.ts";

const LONG_MS = 3_600_000;
/** Each of these commands loads the local model itself. */
const QUESTION_MS = 20_000;

/** Indexing all notes may take long, so there is no timeout. */
export interface MemoryHere {
  status(agent: AgentId, deep: boolean): Promise<MemoryStatus>;
  index(agent: AgentId, force: boolean): Promise<IndexReport>;
  search(agent: AgentId, query: SearchRequest): Promise<MemoryAnswer>;
}

export interface SearchRequest {
  readonly query: string;
  readonly maxResults?: number;
  readonly minScore?: number;
}

export async function withMemory<T>(io: Io, flags: WireFlags, use: (memory: MemoryHere) => Promise<T>): Promise<T> {
  const target = await targetOf(io, flags);
  const runsHere = readLockOwner(stateLockOf(io.paths().state))?.port !== undefined;
  if (target.isLocal && !runsHere) return useHere(io, use);
  const { withGateway } = await import("./client.ts");
  return withGateway(io, target, (client) =>
    use({
      status: (agentId, deep) => client.call("memory.status", { agentId, deep }, { timeoutMs: LONG_MS }),
      index: (agentId, force) => client.call("memory.index", { agentId, force }, { timeoutMs: LONG_MS }),
      search: (agentId, query) => client.call("memory.search", { agentId, ...query }, { timeoutMs: LONG_MS }),
    }),
  );
}

async function useHere<T>(io: Io, use: (memory: MemoryHere) => Promise<T>): Promise<T> {
  const { openOffline } = await import("../app/offline.ts");
  const runtime = await openOffline(io.env, io.profile);
  try {
    return await use({
      status: (agent, deep) => runtime.memory.status(agent, { deep }),
      // The process ends with the command, so missing vectors are created before it exits.
      index: (agent, force) => runtime.memory.index(agent, { force, vectors: true }),
      search: (agent, query) => runtime.memory.search({ agent, waitMs: QUESTION_MS, ...query }),
    });
  } finally {
    await runtime.close();
  }
}

/** The named agent, or all agents. */
export async function agentsFor(io: Io, named: string | undefined): Promise<readonly AgentId[]> {
  const { config } = await requireConfig(io);
  return named === undefined ? agentIds(config) : [knownAgent(config, named)];
}

export async function agentFor(io: Io, named: string | undefined): Promise<AgentId> {
  const { config } = await requireConfig(io);
  return named === undefined ? defaultAgentId(config) : knownAgent(config, named);
}

function knownAgent(config: Config, named: string): AgentId {
  const id = parseAgentId(named);
  const known = agentIds(config);
  if (known.includes(id)) return id;
  throw new OpenClawError("agent.unknown", `there is no agent "${named}"; known: ${known.join(", ")}`, {
    hint: "openclaw agents list",
  });
}

/** The folder of the optional embedding packages. */
export async function extrasFolderHere(io: Io): Promise<string> {
  const { extrasFolder } = await import("../memory/embed/extra.ts");
  const { config } = await requireConfig(io);
  return extrasFolder(io.paths(), config.agents?.defaults?.memorySearch?.local?.modelCacheDir);
}
