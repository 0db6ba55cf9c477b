// The way to other machines, as commands need it. Filled by node/.

/** A machine that was paired as a node, connected or not. */
export interface NodeFacts {
  readonly nodeId: string;
  readonly displayName?: string;
  /** `linux`, `macos 26.1`, `windows` … as the node says. */
  readonly platform: string;
  readonly connected: boolean;
  /** What it can be asked for; empty while it is away. */
  readonly commands: readonly string[];
  readonly remoteIp?: string;
}

export interface InvokeOptions {
  readonly timeoutMs: number;
  readonly idempotencyKey: string;
  /** Ends the wait; the node is told, and ours ends the work. */
  readonly signal?: AbortSignal;
}

export interface NodePort {
  list(): Promise<readonly NodeFacts[]>;
  /** By id, name, address or the beginning of an id. Throws `node.unknown`, `node.ambiguous`. */
  resolve(reference: string): Promise<NodeFacts>;
  /** What the node answered. Throws `node.not-connected`, `node.no-command`, `node.failed`, `node.timeout`. */
  invoke(nodeId: string, command: string, params: unknown, options: InvokeOptions): Promise<unknown>;
}
