// Errors on the way to a node, with the messages that published clients expect.
import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";

/** An error as a node reports it. */
export interface NodeFailure {
  readonly code?: string;
  readonly message?: string;
}

export function unknownNode(reference: string, known: readonly string[]): OpenClawError {
  const names = known.length === 0 ? "no node is paired" : `known: ${known.join(", ")}`;
  return new OpenClawError("node.unknown", `unknown node: ${visible(reference, 100)} (${names})`, {
    hint: "openclaw gateway call node.list",
  });
}

export function ambiguousNode(reference: string, matches: readonly string[]): OpenClawError {
  return new OpenClawError(
    "node.ambiguous",
    `ambiguous node: ${visible(reference, 100)} (matches: ${matches.join(", ")})`,
    { hint: "use the full id", details: { matches } },
  );
}

export function notConnected(nodeId: string): OpenClawError {
  return new OpenClawError("node.not-connected", "node not connected", {
    hint: "start the node host or the companion app there",
    details: { code: "NOT_CONNECTED", nodeId },
  });
}

export function noSuchCommand(command: string): OpenClawError {
  return new OpenClawError("node.no-command", "node command not allowed", {
    hint: "openclaw gateway call node.list",
    details: { reason: "command not declared by node", command: visible(command, 100) },
  });
}

export function nodeFailed({ code = "UNAVAILABLE", message = "node invoke failed" }: NodeFailure): OpenClawError {
  const text = message.slice(0, 2000).toWellFormed();
  return new OpenClawError("node.failed", text, {
    details: { nodeError: { code: code.slice(0, 100), message: text } },
  });
}

export function nodeTimedOut(): OpenClawError {
  const message = "node invoke timed out";
  return new OpenClawError("node.timeout", message, { details: { nodeError: { code: "TIMEOUT", message } } });
}

/** The error that a node sent with `node.failed`. */
export function failureOf(error: unknown): NodeFailure | undefined {
  if (!(error instanceof OpenClawError) || error.code !== "node.failed") return undefined;
  const { details } = error;
  if (typeof details !== "object" || details === null || !("nodeError" in details)) return undefined;
  return details.nodeError as NodeFailure;
}
