// node.json: what a node host keeps of itself between two runs. Private, written whole, and refused when it cannot be read.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { errnoOf, OpenClawError } from "../../core/error.ts";
import { checker, describeIssues, Type, type Static } from "../../core/schema.ts";
import { writeFileAtomic } from "../../base/atomic-file.ts";

const NodeStateSchema = Type.Object({
  version: Type.Literal(1),
  /** Names this installation to itself; gateways know the node by the hash of its key. */
  nodeId: Type.String({ minLength: 1 }),
  displayName: Type.String({ minLength: 1 }),
  gateway: Type.Object({
    host: Type.String({ minLength: 1 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    tls: Type.Boolean(),
    /** SHA-256 of the certificate, when only that one is trusted. */
    tlsFingerprint: Type.Optional(Type.String()),
  }),
  /** What that gateway gave us when it let us in; never shown to another. */
  token: Type.Optional(Type.String()),
  /** How the connection stands, for `node status`. */
  link: Type.Optional(
    Type.Object({
      state: Type.Union([Type.Literal("connected"), Type.Literal("pairing"), Type.Literal("away")]),
      sinceMs: Type.Number(),
      requestId: Type.Optional(Type.String()),
      why: Type.Optional(Type.String()),
    }),
  ),
});

export type NodeState = Static<typeof NodeStateSchema>;
export type GatewayAddress = NodeState["gateway"];
export type LinkState = NonNullable<NodeState["link"]>;

const stateChecker = checker(NodeStateSchema);

export const nodeStateFile = (stateDir: string): string => join(stateDir, "node.json");
export const nodeLockFile = (stateDir: string): string => join(stateDir, "node.lock");

export function readNodeState(stateDir: string): NodeState | undefined {
  const path = nodeStateFile(stateDir);
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (stateChecker.is(value)) return value;
    throw unreadable(path, describeIssues(stateChecker.issues(value).slice(0, 3)));
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT" || errnoOf(cause) === "ENOTDIR") return undefined;
    throw cause instanceof OpenClawError ? cause : unreadable(path, "it is not JSON", cause);
  }
}

export function writeNodeState(stateDir: string, state: NodeState): void {
  writeFileAtomic(nodeStateFile(stateDir), `${JSON.stringify(state, null, 2)}\n`);
}

export interface NodeHostOptions {
  readonly nodeId?: string | undefined;
  readonly displayName?: string | undefined;
  readonly gateway: GatewayAddress;
}

/** A token is for one gateway and one node id: with another of either it is forgotten. */
export function nextNodeState(
  before: NodeState | undefined,
  options: NodeHostOptions,
  defaults: NewNodeDefaults,
): NodeState {
  const { gateway, nodeId, displayName } = options;
  const isSame = before !== undefined && urlOf(before.gateway) === urlOf(gateway) && nodeId === undefined;
  return {
    version: 1,
    nodeId: nodeId ?? before?.nodeId ?? defaults.newId(),
    displayName: displayName ?? before?.displayName ?? defaults.hostName,
    gateway,
    ...(isSame && before.token !== undefined ? { token: before.token } : {}),
  };
}

interface NewNodeDefaults {
  readonly hostName: string;
  newId(): string;
}

export function urlOf({ host, port, tls }: GatewayAddress): string {
  return `${tls ? "wss" : "ws"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether a URL leads to that place, by the same way: what is meant for TLS must not go out in the clear. */
export function isSameGateway(url: string, { host, port, tls }: GatewayAddress): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port: written } = new URL(url);
  const isTls = protocol === "wss:" || protocol === "https:";
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return isTls === tls && bare === host.toLowerCase() && Number(written || (isTls ? 443 : 80)) === port;
}

function unreadable(path: string, why: string, cause?: unknown): OpenClawError {
  return new OpenClawError("node-host.state", `${path} cannot be read: ${why}`, {
    cause,
    hint: `move it away (mv ${path} ${path}.old); a new one is made`,
  });
}
