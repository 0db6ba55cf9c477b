// `openclaw node status`: shows whether a node host runs here and whether it is connected.
import { readLockOwner } from "../../base/lock.ts";
import { systemClock } from "../../base/clock.ts";
import { nodeLockFile, readNodeState, urlOf, type NodeState } from "../../node/host/state.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { formatDuration } from "../../base/duration.ts";
import { columns, oneLine, toJson } from "../print.ts";

export const command = defineCommand({
  examples: [
    { line: "node status", does: "process, gateway, connection, id" },
    { line: "node status --json", does: "the same as JSON" },
  ],
  exits: "0 the node runs and is connected, 1 it is not, 2 wrong usage",
  async run(io) {
    const { state: stateDir } = io.paths();
    const state = readNodeState(stateDir);
    const owner = readLockOwner(nodeLockFile(stateDir));
    const connected = owner !== undefined && state?.link?.state === "connected";
    if (io.json) {
      const { token, ...shown } = state ?? {};
      const deviceId = await deviceIdOf(io, state);
      io.print(toJson({ ok: connected, process: owner ?? null, deviceId, paired: token !== undefined, ...shown }));
      return connected ? 0 : 1;
    }
    const process =
      owner === undefined
        ? io.paint.warn("no node host runs here")
        : `${owner.pid}, since ${formatDuration(systemClock.now() - owner.startedAt)}`;
    const rows: (readonly [string, string])[] = [["Process", process]];
    if (state !== undefined)
      rows.push(
        ["Gateway", oneLine(urlOf(state.gateway))],
        ["Connection", owner === undefined ? "none" : connectionText(io, state)],
        ["Name", oneLine(state.displayName)],
        ["Node", (await deviceIdOf(io, state)) ?? "no key yet"],
      );
    io.print(columns(rows, { width: io.width }).join("\n"));
    if (!connected) io.say(`fix: ${fixFor(owner !== undefined, state)}`);
    return connected ? 0 : 1;
  },
});

/** The id by which the gateway knows the node. Reading it does not create one. */
async function deviceIdOf(io: Io, state: NodeState | undefined): Promise<string | null> {
  if (state === undefined) return null;
  const { openIdentity } = await import("../identity.ts");
  return openIdentity(io.paths().state).deviceId;
}

function connectionText({ paint }: Io, { link }: NodeState): string {
  if (link === undefined) return paint.warn("not connected yet");
  const since = formatDuration(systemClock.now() - link.sinceMs);
  if (link.state === "connected") return `${paint.good("connected")}, since ${since}`;
  if (link.state === "pairing") return paint.warn(`waiting for pairing approval, since ${since}`);
  return paint.warn(`none, since ${since}${link.why === undefined ? "" : `: ${oneLine(link.why)}`}`);
}

function fixFor(isRunning: boolean, state: NodeState | undefined): string {
  if (!isRunning) return "openclaw node run";
  if (state?.link?.state === "pairing")
    return `on the machine of the gateway: openclaw devices approve ${state.link.requestId ?? "<id>"}`;
  return "start the gateway; the node host reconnects";
}
