// The interface to paired nodes that commands use; implemented by ../node.

/** A machine that was paired as a node, connected or not. */
export interface NodeFacts {
  readonly nodeId: string;
  readonly displayName?: string;
  /** `linux`, `macos 26.1`, `windows` …, as reported by the node. */
  readonly platform: string;
  readonly connected: boolean;
  /** Commands it offers; empty while it is disconnected. */
  readonly commands: readonly string[];
  readonly remoteIp?: string;
}

export interface InvokeOptions {
  readonly timeoutMs: number;
  readonly idempotencyKey: string;
  /** Stops waiting and cancels the request; our own node host then ends the command. */
  readonly signal?: AbortSignal;
}

export interface NodePort {
  list(): Promise<readonly NodeFacts[]>;
  /** By id, name, address or a prefix of the id. Throws `node.unknown`, `node.ambiguous`. */
  resolve(reference: string): Promise<NodeFacts>;
  /** Resolves with the node's answer. Throws `node.not-connected`, `node.no-command`, `node.failed`, `node.timeout`. */
  invoke(nodeId: string, command: string, params: unknown, options: InvokeOptions): Promise<unknown>;
}
