// `openclaw gateway restart`: restarts the running gateway in its own process.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../../core/error.ts";
import { readLockOwner, stateLockOf } from "../../base/lock.ts";
import { isDown, withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { isListening } from "../listening.ts";
import { toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";
import { targetOf, wireOptions, type Target } from "../target.ts";

const COMES_BACK_MS = 20_000;

export const command = defineCommand({
  details: "The config is checked first: if the gateway could not start again, it keeps running.",
  options: wireOptions,
  examples: [
    { line: "gateway restart", does: "apply every change of the config" },
    { line: "gateway restart --json", does: "the same, for scripts" },
  ],
  async run(io, { options }) {
    await requireConfig(io);
    const target = await targetOf(io, options);
    const before = readLockOwner(stateLockOf(io.paths().state));
    const how = await askForRestart(io, target);
    if (target.isLocal) await waitUntilBack(io, before?.startedAt ?? 0);
    io.print(
      io.json
        ? toJson({ ok: true, how, pid: readLockOwner(stateLockOf(io.paths().state))?.pid ?? null })
        : "the gateway has restarted",
    );
    return 0;
  },
});

async function askForRestart(io: Io, target: Target): Promise<"rpc" | "signal"> {
  try {
    await withGateway(io, target, (client) => client.call("gateway.restart", { reason: "openclaw gateway restart" }));
    return "rpc";
  } catch (error) {
    // With a wrong token, the owner of the process can still send it a signal, if commands.restart allows it.
    if (!target.isLocal || isDown(error) || !(error instanceof OpenClawError) || error.code !== "gateway.unauthorized")
      throw error;
    return signalRestart(io, error);
  }
}

async function signalRestart(io: Io, refusal: OpenClawError): Promise<"signal"> {
  const [{ findHolder }, { config }] = await Promise.all([import("../holder.ts"), requireConfig(io)]);
  const holder = findHolder(io.paths().state);
  if (holder === undefined || config.commands?.restart !== true) throw refusal;
  process.kill(holder.pid, "SIGUSR1");
  return "signal";
}

/** The new run takes the lock again; until then the old one may still respond. */
async function waitUntilBack(io: Io, startedAt: number): Promise<void> {
  const file = stateLockOf(io.paths().state);
  for (let left = COMES_BACK_MS; left > 0; left -= 100) {
    await sleep(100);
    const owner = readLockOwner(file);
    const isNew = owner?.port !== undefined && owner.startedAt > startedAt;
    if (isNew && (await isListening(await targetOf(io, {})))) return;
  }
  throw new OpenClawError("gateway.not-back", `the gateway did not come back within ${COMES_BACK_MS / 1000} s`, {
    hint: "openclaw gateway status, then: openclaw logs",
  });
}
