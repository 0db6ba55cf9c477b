// Chooses the node for a command: the named one, the bound one, or the only one available.
import { OpenClawError, ToolError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { NodeFacts, NodePort } from "./node-port.ts";
import type { Route } from "./route.ts";

/** Throws ToolError `exec.no-node`, `exec.node-unknown`, `exec.node-bound`, `exec.node-away`, `exec.node-cannot-run`, `exec.node-ambiguous`. */
export async function chooseNode(
  { node, boundNode }: Pick<Route, "node" | "boundNode">,
  port: NodePort,
): Promise<NodeFacts> {
  const nodes = await port.list();
  if (nodes.length === 0) throw none("no node is paired");
  if (node === undefined) return onlyOne(nodes);
  const chosen = await named(node, port);
  const bound = boundNode === undefined || boundNode === node ? chosen : await named(boundNode, port);
  if (bound.nodeId !== chosen.nodeId) throw otherThanBound(chosen, bound);
  return able(chosen);
}

async function named(reference: string, port: NodePort): Promise<NodeFacts> {
  try {
    return await port.resolve(reference);
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    const code = error.code === "node.ambiguous" ? "exec.node-ambiguous" : "exec.node-unknown";
    throw new ToolError(code, error.message, {
      hint: error.hint ?? "openclaw gateway call node.list",
      details: { refused: true },
      cause: error,
    });
  }
}

function onlyOne(nodes: readonly NodeFacts[]): NodeFacts {
  const here = nodes.filter(({ connected }) => connected);
  const fit = here.filter(canRun);
  const [first, ...more] = fit;
  if (first === undefined) {
    throw none(here.length === 0 ? "no paired node is connected" : "no connected node offers system.run");
  }
  if (more.length === 0) return first;
  throw new ToolError("exec.node-ambiguous", `several nodes can run this command: ${fit.map(nameOf).join(", ")}`, {
    hint: "choose one with tools.exec.node or /exec node=<name>",
    details: { refused: true, nodes: fit.map(({ nodeId }) => nodeId) },
  });
}

function able(node: NodeFacts): NodeFacts {
  if (!node.connected) {
    throw new ToolError("exec.node-away", `the node ${nameOf(node)} is not connected`, {
      hint: "start the companion app or the node host there",
      details: { refused: true, nodeId: node.nodeId },
    });
  }
  if (canRun(node)) return node;
  throw new ToolError("exec.node-cannot-run", `the node ${nameOf(node)} does not offer system.run`, {
    hint: "host=node needs the companion app or a node host (openclaw node run) there",
    details: { refused: true, nodeId: node.nodeId },
  });
}

function none(why: string): ToolError {
  return new ToolError("exec.no-node", `host=node needs a paired node with a companion app or node host: ${why}`, {
    hint: "openclaw node run --host <gateway> there, then openclaw devices approve",
    details: { refused: true },
  });
}

function otherThanBound(chosen: NodeFacts, bound: NodeFacts): ToolError {
  return new ToolError(
    "exec.node-bound",
    `the call names the node ${nameOf(chosen)}, but commands here are bound to ${nameOf(bound)} (tools.exec.node)`,
    {
      hint: "omit node; or change tools.exec.node; or an authorized sender writes: /exec node=<name>",
      details: { refused: true, requested: chosen.nodeId, bound: bound.nodeId },
    },
  );
}

const canRun = ({ commands }: NodeFacts): boolean => commands.includes("system.run");

const nameOf = ({ displayName, nodeId }: NodeFacts): string => visible(displayName ?? nodeId.slice(0, 12), 60);
