// Whether a gateway runs here and answers: the lock's owner, the port, one request. Fast when none runs.
import { OpenClawError } from "../core/error.ts";
import { readLockOwner, stateLockOf, type LockOwner } from "../base/lock.ts";
import { tailLog } from "../gateway/log-tail.ts";
import type { HelloOk } from "../protocol/connect.ts";
import type { GatewayClient } from "./client.ts";
import type { Io } from "./io.ts";
import { isListening } from "./listening.ts";
import { newestLog, parseLogLine, type LogLine } from "./log-file.ts";
import { readUncheckedConfig, type UncheckedConfig } from "./settings.ts";
import { targetOf, type Target, type WireFlags } from "./target.ts";

export interface GatewayState {
  readonly unchecked: UncheckedConfig;
  readonly target: Target;
  /** The process in the lock file of the state folder, if it is alive. */
  readonly owner: LockOwner | undefined;
  readonly listening: boolean;
  readonly probe: Probe;
}

export type Probe =
  | {
      readonly ok: true;
      readonly ms: number;
      readonly hello: HelloOk;
      readonly answers: Readonly<Record<string, unknown>>;
    }
  | { readonly ok: false; readonly error: OpenClawError | undefined };

/** Asks the methods in `ask` when the gateway answers. Never throws for a gateway that is down or refuses. */
export async function readGatewayState(
  io: Io,
  flags: WireFlags,
  ask: Readonly<Record<string, unknown>>,
): Promise<GatewayState> {
  const unchecked = await readUncheckedConfig(io);
  const target = await targetOf(io, flags, unchecked);
  const owner = target.isLocal ? readLockOwner(stateLockOf(io.paths().state)) : undefined;
  const listening = await isListening(target);
  const probe: Probe = listening ? await probeTarget(io, target, ask) : { ok: false, error: undefined };
  return { unchecked, target, owner, listening, probe };
}

export async function probeTarget(io: Io, target: Target, ask: Readonly<Record<string, unknown>>): Promise<Probe> {
  const { connectGateway } = await import("./client.ts");
  const started = performance.now();
  let client: GatewayClient | undefined;
  try {
    client = await connectGateway(io, target);
    const asked = client;
    const answers = await Promise.all(
      Object.entries(ask).map(async ([method, params]) => [method, await asked.callByName(method, params)] as const),
    );
    return {
      ok: true,
      ms: Math.round(performance.now() - started),
      hello: client.hello,
      answers: Object.fromEntries(answers),
    };
  } catch (error) {
    if (error instanceof OpenClawError) return { ok: false, error };
    throw error;
  } finally {
    client?.close();
  }
}

/** The newest error in the log, which may explain why a gateway ended. */
export async function lastLoggedError(io: Io, unchecked: UncheckedConfig): Promise<LogLine | undefined> {
  const file = newestLog(io, unchecked);
  if (file === undefined) return undefined;
  const { lines } = await tailLog(file, { limit: 2000 });
  return lines
    .toReversed()
    .map(parseLogLine)
    .find((line) => line?.level === "error");
}
