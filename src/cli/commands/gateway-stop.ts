// `openclaw gateway stop`: ends the process that holds the lock of the state folder, and waits for it.
import { setTimeout as sleep } from "node:timers/promises";

import { errnoOf, OpenClawError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { findHolder, hasEnded } from "../holder.ts";
import { wholeNumber } from "../parse.ts";
import { shortPath, toJson } from "../print.ts";

const DEFAULT_WAIT_MS = 15_000;

export const command = defineCommand({
  details:
    "Only the process that holds the lock of the state folder gets the signal, never another one with the same process id.",
  options: {
    timeout: { type: "string", value: "ms", description: "How long to wait until it has exited (default: 15000)." },
  },
  examples: [
    { line: "gateway stop", does: "stop it and wait" },
    { line: "--dev gateway stop", does: "stop the gateway of the profile dev" },
  ],
  exits: "0 stopped or not running, 1 it did not exit in time, 2 wrong usage",
  async run(io, { options }) {
    const waitMs = wholeNumber("timeout", options.timeout, { min: 0, max: 600_000 }) ?? DEFAULT_WAIT_MS;
    const { state } = io.paths();
    const holder = findHolder(state);
    if (holder === undefined) {
      io.print(
        io.json
          ? toJson({ ok: true, stopped: false, reason: "not-running" })
          : `no gateway is running with the state in ${shortPath(state, io)}`,
      );
      return 0;
    }
    askToEnd(holder.pid);
    for (let left = waitMs; !hasEnded(holder.pid); left -= 50) {
      if (left <= 0) throw tooSlow(holder.pid, waitMs);
      await sleep(50);
    }
    io.print(
      io.json ? toJson({ ok: true, stopped: true, pid: holder.pid }) : `stopped the gateway (process ${holder.pid})`,
    );
    return 0;
  },
});

function askToEnd(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (cause) {
    if (errnoOf(cause) === "ESRCH") return; // it has just exited
    throw new OpenClawError("gateway.not-ours", `process ${pid} locks the state folder but belongs to another user`, {
      cause,
      hint: `stop it as that user, or: sudo kill ${pid}`,
    });
  }
}

function tooSlow(pid: number, waitMs: number): OpenClawError {
  return new OpenClawError(
    "gateway.still-running",
    `process ${pid} got SIGTERM but did not exit within ${waitMs / 1000} s`,
    {
      hint: `wait longer: openclaw gateway stop --timeout 60000, or kill it: kill -9 ${pid}`,
    },
  );
}
