// `openclaw update`: updates a git checkout from its upstream, installs and builds; explains it for other installations.
import { readLockOwner, stateLockOf } from "../../base/lock.ts";
import { createMask } from "../../base/mask.ts";
import { packageRoot } from "../../base/version.ts";
import { defineCommand } from "../command.ts";
import { wholeNumber } from "../parse.ts";
import { safe, toJson } from "../print.ts";

export const command = defineCommand({
  details:
    "A checkout with local changes is not updated. If a step fails, the old commit is restored. A running gateway keeps the old code until it is restarted.",
  options: {
    timeout: { type: "string", value: "seconds", description: "Time limit for the whole update (default: 1200)." },
  },
  examples: [
    { line: "update", does: "fetch, rebase, install, build" },
    { line: "update --json", does: "every step with how long it took, for scripts" },
  ],
  exits: "0 updated or nothing to do, 1 a step failed",
  async run(io, { options }) {
    const seconds = wholeNumber("timeout", options.timeout, { min: 1, max: 3600 });
    const { runUpdate, updateText } = await import("../../admin/update.ts");
    const report = await runUpdate({
      root: packageRoot(),
      env: io.env,
      mask: createMask(),
      timeoutMs: seconds === undefined ? undefined : seconds * 1000,
      signal: new AbortController().signal,
    });
    io.print(io.json ? toJson(report) : safe(updateText(report)));
    const runs = readLockOwner(stateLockOf(io.paths().state)) !== undefined;
    if (report.status === "ok" && runs && !io.json)
      io.say("A gateway is running with the old code. Stop it, then start it again: openclaw gateway stop");
    return report.status === "error" ? 1 : 0;
  },
});
