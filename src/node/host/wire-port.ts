// The connection to a gateway that a node host uses; implemented where sockets may be opened.
import type { WireError } from "../../protocol/frame.ts";

export type HostAnswer =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly error: WireError };

export interface HostWire {
  readonly challenge: Promise<string>;
  request(method: string, params: unknown, timeoutMs: number): Promise<HostAnswer>;
  onEvent(listener: (event: string, payload: unknown) => void): () => void;
  /** Rejects when the connection ends unexpectedly; never resolves. */
  readonly ended: Promise<never>;
  close(): void;
}
