// The machines this gateway knows: who is there, what each can do, asking one, and what it says of its runs.
import { HouseError } from "../core/error.ts";
import { isRecord } from "../config/path.ts";
import { noSuchCommand, notConnected } from "../exec/node-error.ts";
import type { InvokeOptions, NodePort } from "../exec/node-port.ts";
import { createInvoker, type NodeAnswer } from "./invoke.ts";
import type { NodeLink, NodeRow, NodeSource, PairedNode } from "./link.ts";
import { resolveNode } from "./resolve.ts";
import { createGivenRuns, type GivenRun } from "./runs.ts";

/** `exec.started`, `exec.finished`, `exec.denied` of a run that this node was given. */
export interface NodeRunReport extends GivenRun {
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Nodes extends NodePort {
  list(): Promise<readonly NodeRow[]>;
  resolve(reference: string): Promise<NodeRow>;
  /** By its whole id. */
  get(nodeId: string): Promise<NodeRow | undefined>;
  /** From then on the nodes of a gateway; before, and with none, there are no nodes. */
  attach(source: NodeSource): void;
  answer(connId: string, answer: NodeAnswer): boolean;
  /** Throws `node.unknown-run` for a run the node was not given. Events of other kinds are nobody's yet. */
  report(nodeId: string, event: string, payload: unknown): void;
  /** Hears of runs that were given with a session to tell. */
  watch(listener: (report: NodeRunReport) => void): () => void;
}

const noSource: NodeSource = { links: () => [], paired: () => Promise.resolve([]) };

export function createNodes(): Nodes {
  const invoker = createInvoker();
  const runs = createGivenRuns();
  const listeners = new Set<(report: NodeRunReport) => void>();
  let source = noSource;

  /** The newest connection of a node: an older one is a half-open socket. */
  const linkOf = (nodeId: string): NodeLink | undefined =>
    source
      .links()
      .filter((link) => link.nodeId === nodeId && !link.gone.aborted)
      .toSorted((a, b) => b.connectedAtMs - a.connectedAtMs)[0];

  const list = async (): Promise<NodeRow[]> => (await source.paired()).map((node) => toRow(node, linkOf(node.nodeId)));

  return {
    attach(next) {
      source = next;
    },
    list,
    resolve: async (reference) => resolveNode(reference, await list()),
    get: async (nodeId) => (await list()).find((node) => node.nodeId === nodeId),
    async invoke(nodeId: string, command: string, params: unknown, options: InvokeOptions) {
      const link = linkOf(nodeId);
      if (link === undefined) throw notConnected(nodeId);
      if (!link.commands.includes(command)) throw noSuchCommand(command);
      const run = command === "system.run" ? runIn(params, nodeId) : undefined;
      if (run !== undefined) runs.give(run);
      return invoker.ask(link, command, params, options);
    },
    answer: (connId, answer) => invoker.answer(connId, answer),
    report(nodeId, event, payload) {
      if (!runEvents.has(event)) return;
      const said = isRecord(payload) ? payload : {};
      const runId = typeof said["runId"] === "string" ? said["runId"] : "";
      const run = runs.has(runId, nodeId) ? runs.take(runId, nodeId) : undefined;
      if (run === undefined)
        throw new HouseError("node.unknown-run", `${event}: this node was given no such run`, {
          details: { refused: true },
        });
      if (event === "exec.started") runs.give(run);
      if (run.sessionKey !== undefined) for (const listener of listeners) listener({ ...run, event, payload: said });
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const runEvents: ReadonlySet<string> = new Set(["exec.started", "exec.finished", "exec.denied"]);

function runIn(params: unknown, nodeId: string): GivenRun | undefined {
  if (!isRecord(params) || typeof params["runId"] !== "string") return undefined;
  const { runId, sessionKey } = params;
  return { runId, nodeId, ...(typeof sessionKey === "string" ? { sessionKey } : {}) };
}

/** The owner's name for a node stands over the one it gives itself. */
function toRow(node: PairedNode, link: NodeLink | undefined): NodeRow {
  const displayName = node.displayName ?? link?.displayName;
  return {
    nodeId: node.nodeId,
    ...(displayName === undefined ? {} : { displayName }),
    platform: link?.platform ?? node.platform,
    ...(link === undefined ? {} : factsOf(link)),
    caps: (link?.caps ?? []).toSorted(),
    commands: (link?.commands ?? []).toSorted(),
    paired: true,
    connected: link !== undefined,
  };
}

function factsOf(link: NodeLink): Partial<NodeRow> {
  const { version, deviceFamily, modelIdentifier, permissions, pathEnv, remoteIp, connectedAtMs } = link;
  return {
    version,
    ...(deviceFamily === undefined ? {} : { deviceFamily }),
    ...(modelIdentifier === undefined ? {} : { modelIdentifier }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(pathEnv === undefined ? {} : { pathEnv }),
    ...(remoteIp === undefined ? {} : { remoteIp }),
    connectedAtMs,
  };
}
