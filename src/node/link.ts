// What nodes need from a connection and from the pairing records; implemented by the gateway.
export type { NodeRow } from "../protocol/methods/nodes.ts";

/** One open connection of a node. */
export interface NodeLink {
  readonly connId: string;
  readonly nodeId: string;
  readonly displayName?: string;
  readonly platform: string;
  readonly version: string;
  readonly deviceFamily?: string;
  readonly modelIdentifier?: string;
  readonly caps: readonly string[];
  readonly commands: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>>;
  readonly pathEnv?: string;
  /** Absent when it comes from this machine. */
  readonly remoteIp?: string;
  readonly connectedAtMs: number;
  /** Aborts when the connection ends. */
  readonly gone: AbortSignal;
  send(event: string, payload: unknown): void;
}

export interface PairedNode {
  readonly nodeId: string;
  readonly displayName?: string;
  readonly platform: string;
}

export interface NodeSource {
  links(): readonly NodeLink[];
  paired(): Promise<readonly PairedNode[]>;
}
