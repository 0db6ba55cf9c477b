// command-logger: appends one JSON line per command, with secrets masked, to a file of limited size.
import { appendFileSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";

import { OpenClawError } from "../../../core/error.ts";
import type { BundledHook, BundledPorts } from "./bundled.ts";
import { commandLogger as card } from "./cards.ts";

const MAX_BYTES = 5_000_000;

export function commandLogger({ paths, mask }: BundledPorts): BundledHook {
  const file = join(paths.state, "logs", "commands.log");
  return {
    card,
    async run({ timestamp, action, sessionKey, context }) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const found = lstatSync(file, { throwIfNoEntry: false });
      if (found !== undefined && !found.isFile())
        throw new OpenClawError("hook.bad", `${file} is not a regular file`, { hint: `remove ${file}` });
      if ((found?.size ?? 0) > MAX_BYTES) renameSync(file, `${file}.1`);
      const { senderId = "unknown", commandSource = "unknown" } = context;
      const line = { timestamp: timestamp.toISOString(), action, sessionKey, senderId, source: commandSource };
      appendFileSync(file, `${mask(JSON.stringify(line))}\n`, { mode: 0o600 });
    },
  };
}
