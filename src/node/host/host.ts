// Runs a headless node: connects, waits for pairing, serves requests, and reconnects until it is stopped.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../../core/error.ts";
import type { Signer } from "../../protocol/connect-request.ts";
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Command } from "./commands.ts";
import { connectNode, type Hello, type Refusal, type Secret } from "./connect.ts";
import { serve } from "./serve.ts";
import { urlOf, writeNodeState, type LinkState, type NodeState } from "./state.ts";
import type { HostWire } from "./wire-port.ts";

export interface HostDeps {
  readonly stateDir: string;
  readonly identity: Signer;
  readonly pathEnv: string;
  readonly secret: Secret;
  readonly commands: Readonly<Record<string, Command>>;
  readonly log: Log;
  /** Opens a connection to the gateway. Throws OpenClawError when it cannot be reached. */
  dial(): Promise<HostWire>;
}

const PAIRING_POLL_MS = 2000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A gateway that is silent for this many ticks is considered gone. */
const SILENT_TICKS = 2.5;

/** Runs until `signal` aborts. Throws OpenClawError for a refusal that a retry cannot fix. */
export async function runNodeHost(deps: HostDeps, first: NodeState, signal: AbortSignal): Promise<void> {
  let state = first;
  const save = (change: Partial<NodeState>): void => {
    const { token, ...rest } = { ...state, ...change };
    state = { ...rest, ...(token === undefined || token === "" ? {} : { token }) };
    writeNodeState(deps.stateDir, state);
  };
  const noteLink = (link: Omit<LinkState, "sinceMs">): void => {
    const { sinceMs: _since, ...now } = state.link ?? { sinceMs: 0, state: "away" as const };
    if (state.link === undefined || JSON.stringify(now) !== JSON.stringify(link))
      save({ link: { ...link, sinceMs: systemClock.now() } });
  };
  for (let failures = 0; !signal.aborted;) {
    const end = await oneConnection(deps, () => state, { save, noteLink }, signal);
    if (end === "stopped") break;
    failures = end === "lost" ? 0 : failures + 1;
    const waitMs = end === "pairing" ? PAIRING_POLL_MS : end === "again" ? 0 : retryDelay(failures);
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
  save({ link: { state: "away", sinceMs: systemClock.now(), why: "stopped" } });
}

/** Grows with each failure; random, so that nodes do not reconnect at the same moment. */
function retryDelay(failures: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 1.8 ** failures) * (0.75 + Math.random() / 2);
}

interface StateWriter {
  save(change: Partial<NodeState>): void;
  noteLink(link: Omit<LinkState, "sinceMs">): void;
}

/** `lost`: it had served. `again`: reconnect immediately with another credential. */
type End = "stopped" | "lost" | "pairing" | "later" | "again";

async function oneConnection(
  deps: HostDeps,
  state: () => NodeState,
  writer: StateWriter,
  signal: AbortSignal,
): Promise<End> {
  const { log } = deps;
  let wire: HostWire | undefined;
  try {
    wire = await deps.dial();
    const { identity, pathEnv, secret, commands } = deps;
    const connected = await connectNode(wire, {
      identity,
      pathEnv,
      secret,
      state: state(),
      commands: Object.keys(commands),
    });
    if (!connected.ok) return refused(connected.refusal, deps, state(), writer);
    const { hello } = connected;
    if (hello.deviceToken !== undefined && hello.deviceToken !== state().token)
      writer.save({ token: hello.deviceToken });
    return await served(deps, wire, hello, state(), writer, signal);
  } catch (error) {
    if (!(error instanceof OpenClawError) || error.code.startsWith("gateway.tls")) throw error;
    if (error.code === "gateway.unauthorized" || error.code === "gateway.refused") throw error;
    if (signal.aborted) return "stopped";
    if (state().link?.why !== error.message) log.warn(`${error.message}; retrying`);
    writer.noteLink({ state: "away", why: error.message });
    return "later";
  } finally {
    wire?.close();
  }
}

function refused(refusal: Refusal, { log, secret }: HostDeps, state: NodeState, writer: StateWriter): End {
  if (refusal.kind === "final") throw refusal.error;
  if (refusal.kind === "own-token") {
    log.warn("the token of this node is no longer valid");
    writer.save({ token: "" });
    if (secret.token !== undefined || secret.password !== undefined) return "again";
    throw new OpenClawError(
      "gateway.unauthorized",
      "the token of this node is no longer valid, and no other is set here",
      {
        hint: "set OPENCLAW_GATEWAY_TOKEN to the gateway.auth.token of that gateway, or pass it with --token",
      },
    );
  }
  if (refusal.kind === "later") {
    log.warn(`the gateway does not accept this node yet: ${refusal.why}`);
    writer.noteLink({ state: "away", why: refusal.why });
    return "later";
  }
  const { requestId } = refusal;
  const approve = `openclaw devices approve ${requestId ?? "<id, shown by openclaw devices list>"}`;
  if (state.link?.state !== "pairing" || state.link.requestId !== requestId)
    log.info(`waiting for pairing approval; on the gateway machine run: ${approve}`);
  writer.noteLink({ state: "pairing", ...(requestId === undefined ? {} : { requestId }) });
  return "pairing";
}

/** Serves until the connection ends, the gateway falls silent, or the host is stopped. */
async function served(
  deps: HostDeps,
  wire: HostWire,
  { maxFrameBytes, tickMs }: Hello,
  state: NodeState,
  writer: StateWriter,
  signal: AbortSignal,
): Promise<End> {
  const { log, commands, identity } = deps;
  const nodeId = identity.deviceId;
  const serving = serve({ wire, nodeId, commands, maxFrameBytes, log });
  writer.noteLink({ state: "connected" });
  log.info(`connected to ${urlOf(state.gateway)} as ${state.displayName} (${nodeId.slice(0, 12)})`);
  try {
    const why = await untilGone(wire, tickMs * SILENT_TICKS, signal);
    if (why === "stopped") return "stopped";
    log.warn(`connection lost: ${why}; ending its commands, then reconnecting`);
    writer.noteLink({ state: "away", why });
    return "lost";
  } finally {
    await serving.close();
  }
}

async function untilGone(wire: HostWire, silenceMs: number, signal: AbortSignal): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const quiet = (): void => resolve(`the gateway was silent for ${Math.round(silenceMs / 1000)} s`);
  let timer = setTimeout(quiet, silenceMs);
  const stopListening = wire.onEvent(() => {
    clearTimeout(timer);
    timer = setTimeout(quiet, silenceMs);
  });
  const stop = (): void => resolve("stopped");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  wire.ended.catch((error: unknown) => resolve(error instanceof Error ? error.message : String(error)));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stopListening();
    signal.removeEventListener("abort", stop);
  }
}
