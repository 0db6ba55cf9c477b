// Models for commands: from the running gateway, whose environment counts, or else from the config of this command.
import { readLockOwner, stateLockOf } from "../base/lock.ts";
import type { MethodName, MethodParams, MethodResult } from "../protocol/method-map.ts";
import { withGateway } from "./client.ts";
import type { Io } from "./io.ts";
import { oneLine } from "./print.ts";
import { requireConfigUnless } from "./settings.ts";
import { targetOf, type Target, type WireFlags } from "./target.ts";

export interface ModelRow {
  readonly provider: string;
  readonly id: string;
  readonly name?: string;
  readonly contextWindow?: number;
  readonly reasoning?: boolean;
  readonly input?: readonly string[];
  /** A credential exists, or none is needed. */
  readonly ready?: boolean;
  /** Where the model is known from. */
  readonly source?: string;
}

export interface ModelTest {
  readonly ok: boolean;
  readonly text?: string;
  readonly durationMs?: number;
  readonly error?: string;
  readonly hint?: string;
}

export interface Models {
  readonly where: "gateway" | "here";
  list(): Promise<readonly ModelRow[]>;
  /** Models that can be used now: with a key in the environment, or from a server on this machine. */
  scan(): Promise<readonly ModelRow[]>;
  /** Sends one small request. A failure is a result, not an exception. */
  test(provider: string, id: string): Promise<ModelTest>;
}

const TEST_TIMEOUT_MS = 150_000;

export async function openModels(io: Io, flags: WireFlags = {}): Promise<Models> {
  await requireConfigUnless(flags.url !== undefined, io);
  const target = await targetOf(io, flags);
  const runsHere = readLockOwner(stateLockOf(io.paths().state))?.port !== undefined;
  if (!target.isLocal || runsHere) return modelsThere(io, target);
  const { modelsOffline } = await import("./models-offline.ts");
  return modelsOffline(io);
}

function modelsThere(io: Io, target: Target): Models {
  const call = <N extends MethodName>(method: N, params: MethodParams<N>, timeoutMs = target.timeoutMs) =>
    withGateway(io, target, (client) => client.call(method, params, { timeoutMs }));
  return {
    where: "gateway",
    list: async () => (await call("models.list", {})).models,
    async scan() {
      const { found } = await call("models.scan", {});
      return found.map(({ provider, model, source }) => ({ provider, id: model, source, ready: true }));
    },
    test: async (provider, model) => toTest(await call("models.test", { provider, model }, TEST_TIMEOUT_MS)),
  };
}

function toTest({ ok, ms, text, failure }: MethodResult<"models.test">): ModelTest {
  return {
    ok,
    durationMs: ms,
    ...(text === undefined ? {} : { text }),
    ...(failure === undefined ? {} : { error: failure.message }),
  };
}

/** Prints one line, with the reason and the fix if it failed. */
export function sayTest(io: Io, ref: string, { ok, text, durationMs, error, hint }: ModelTest): void {
  if (ok) {
    const took = durationMs === undefined ? "" : ` in ${Math.round(durationMs)} ms`;
    io.print(`${io.paint.good("works")}: ${ref} answered${took}${text === undefined ? "" : `: ${oneLine(text)}`}`);
    return;
  }
  io.say(io.paintError.bad(`${ref} does not answer: ${oneLine(error ?? "unknown reason")}`));
  io.say(`fix: ${hint ?? "openclaw configure --section model"}`);
}
