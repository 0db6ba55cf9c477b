// What a wire under test brings along, and a scene of it with its stand-in server.
import type { FakeServer, Script, Tls } from "../../../test/fakes/server.ts";
import type { Deadlines } from "../deadline.ts";
import type { Model } from "../model.ts";

export interface WireSubject {
  readonly name: string;
  start(script: Script, options?: { readonly key?: string; readonly tls?: Tls }): Promise<FakeServer>;
  open(url: string, wish?: OpenRequest): Promise<Model>;
  /** How the vendor says that a request is too long: status and body. */
  readonly overflow: readonly [number, unknown];
  /** Whether its protocol streams thinking. */
  readonly thinks: boolean;
  /** A call whose arguments end early although the stream ends well: given on as text, or a failure. */
  readonly halfCallEnds: "tool-call" | "error";
  /** Where its requests say which tools may be called, and how for auto, none, required and the tool `camera`. */
  readonly choiceOf: (body: Readonly<Record<string, unknown>>) => unknown;
  readonly choices: readonly [unknown, unknown, unknown, unknown];
}

export interface OpenRequest {
  readonly secret?: string;
  readonly deadlines?: Deadlines;
}

/** For the cases that are about waiting; all others may take their time on a busy machine. */
export const impatient: Deadlines = { connectMs: 5000, firstTokenMs: 300, stallMs: 300 };

export interface CommandRun {
  readonly server: FakeServer;
  readonly model: Model;
}
export type MakeScene = (script: Script, deadlines?: Deadlines) => Promise<CommandRun>;
