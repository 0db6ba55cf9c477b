// What can go wrong on the way to a node, in the words published clients know.
import { HouseError } from "../core/error.ts";
import { visible } from "../core/visible.ts";

/** An error as a node reports it. */
export interface NodeFailure {
  readonly code?: string;
  readonly message?: string;
}

export function unknownNode(reference: string, known: readonly string[]): HouseError {
  const names = known.length === 0 ? "no node is paired" : `known: ${known.join(", ")}`;
  return new HouseError("node.unknown", `unknown node: ${visible(reference, 100)} (${names})`, {
    hint: "openclaw gateway call node.list",
  });
}

export function ambiguousNode(reference: string, matches: readonly string[]): HouseError {
  return new HouseError(
    "node.ambiguous",
    `ambiguous node: ${visible(reference, 100)} (matches: ${matches.join(", ")})`,
    { hint: "give the whole id", details: { matches } },
  );
}

export function notConnected(nodeId: string): HouseError {
  return new HouseError("node.not-connected", "node not connected", {
    hint: "start the node host or the companion app there",
    details: { code: "NOT_CONNECTED", nodeId },
  });
}

export function noSuchCommand(command: string): HouseError {
  return new HouseError("node.no-command", "node command not allowed", {
    hint: "openclaw gateway call node.list",
    details: { reason: "command not declared by node", command: visible(command, 100) },
  });
}

export function nodeFailed({ code = "UNAVAILABLE", message = "node invoke failed" }: NodeFailure): HouseError {
  const said = message.slice(0, 2000).toWellFormed();
  return new HouseError("node.failed", said, { details: { nodeError: { code: code.slice(0, 100), message: said } } });
}

export function nodeTimedOut(): HouseError {
  const message = "node invoke timed out";
  return new HouseError("node.timeout", message, { details: { nodeError: { code: "TIMEOUT", message } } });
}

/** The error a node sent along with a `node.failed`. */
export function failureOf(error: unknown): NodeFailure | undefined {
  if (!(error instanceof HouseError) || error.code !== "node.failed") return undefined;
  const { details } = error;
  if (typeof details !== "object" || details === null || !("nodeError" in details)) return undefined;
  return details.nodeError as NodeFailure;
}
