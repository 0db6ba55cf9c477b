// A wire under test with its fake server.
import type { FakeServer, Script, Tls } from "../../../test/fakes/server.ts";
import type { Deadlines } from "../deadline.ts";
import type { Model } from "../model.ts";

export interface WireSubject {
  readonly name: string;
  start(script: Script, options?: { readonly key?: string; readonly tls?: Tls }): Promise<FakeServer>;
  open(url: string, request?: OpenRequest): Promise<Model>;
  /** How the vendor reports a request that is too long: status and body. */
  readonly overflow: readonly [number, unknown];
  /** Whether its protocol streams reasoning. */
  readonly thinks: boolean;
  /** A call whose arguments end early although the stream succeeds: returned as text, or a failure. */
  readonly halfCallEnds: "tool-call" | "error";
  /** Where its requests carry the tool choice, and the values for auto, none, required and the tool `camera`. */
  readonly choiceOf: (body: Readonly<Record<string, unknown>>) => unknown;
  readonly choices: readonly [unknown, unknown, unknown, unknown];
}

export interface OpenRequest {
  readonly secret?: string;
  readonly deadlines?: Deadlines;
}

/** For cases about timeouts; all others allow for a busy machine. */
export const impatient: Deadlines = { connectMs: 5000, firstTokenMs: 300, stallMs: 300 };

export interface ModelCase {
  readonly server: FakeServer;
  readonly model: Model;
}
export type OpenModelCase = (script: Script, deadlines?: Deadlines) => Promise<ModelCase>;
