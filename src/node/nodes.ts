// The paired nodes of this gateway: which are connected, what they offer, invoking commands and checking their reports.
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { noSuchCommand, notConnected } from "../exec/node-error.ts";
import type { InvokeOptions, NodePort } from "../exec/node-port.ts";
import { createInvoker, type NodeAnswer } from "./invoke.ts";
import type { NodeLink, NodeRow, NodeSource, PairedNode } from "./link.ts";
import { resolveNode } from "./resolve.ts";
import { createAssignedRuns } from "./assigned-runs.ts";

export interface Nodes extends NodePort {
  list(): Promise<readonly NodeRow[]>;
  resolve(reference: string): Promise<NodeRow>;
  /** By full id. */
  get(nodeId: string): Promise<NodeRow | undefined>;
  /** Sets where connections and pairings come from; before that there are no nodes. */
  attach(source: NodeSource): void;
  answer(connId: string, answer: NodeAnswer): boolean;
  /**
   * Checks a node's report about a run; the answer to the request carries the result. Throws `node.unknown-run` for a
   * run that was not assigned to it, since a node could use that to inject text into a session.
   */
  report(nodeId: string, event: string, payload: unknown): void;
}

const noSource: NodeSource = { links: () => [], paired: () => Promise.resolve([]) };

export function createNodes(): Nodes {
  const invoker = createInvoker();
  const runs = createAssignedRuns();
  let source = noSource;

  /** The newest connection of a node; an older one is a half-open socket. */
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
      if (command === "system.run" && isRecord(params) && typeof params["runId"] === "string")
        runs.assign(params["runId"], nodeId);
      return invoker.ask(link, command, params, options);
    },
    answer: (connId, answer) => invoker.answer(connId, answer),
    report(nodeId, event, payload) {
      if (!runEvents.has(event)) return;
      const runId = isRecord(payload) && typeof payload["runId"] === "string" ? payload["runId"] : "";
      const known = event === "exec.started" ? runs.has(runId, nodeId) : runs.end(runId, nodeId);
      if (known) return;
      throw new OpenClawError("node.unknown-run", `${event}: no such run was assigned to this node`, {
        details: { refused: true },
      });
    },
  };
}

const runEvents: ReadonlySet<string> = new Set(["exec.started", "exec.finished", "exec.denied"]);

/** The owner's name for a node overrides the name it reports. */
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
