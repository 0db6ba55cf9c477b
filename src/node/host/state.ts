// node.json: the state that a node host keeps between runs. Private, written atomically, rejected when unreadable.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { errnoOf, OpenClawError } from "../../core/error.ts";
import { checker, describeIssues, Type, type Static } from "../../core/schema.ts";
import { writeFileAtomic } from "../../base/atomic-file.ts";

const NodeStateSchema = Type.Object({
  version: Type.Literal(1),
  /** Identifies this installation locally; gateways know the node by the hash of its key. */
  nodeId: Type.String({ minLength: 1 }),
  displayName: Type.String({ minLength: 1 }),
  gateway: Type.Object({
    host: Type.String({ minLength: 1 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    tls: Type.Boolean(),
    /** SHA-256 of the only trusted certificate, if set. */
    tlsFingerprint: Type.Optional(Type.String()),
  }),
  /** The device token of this gateway; never sent to another one. */
  token: Type.Optional(Type.String()),
  /** The state of the connection, for `node status`. */
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

/** A token belongs to one gateway and one node id; it is dropped when either changes. */
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

/** True when a URL has this address and the same use of TLS, so that secrets for TLS are never sent in the clear. */
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
    hint: `move it away (mv ${path} ${path}.old); a new one is created`,
  });
}
