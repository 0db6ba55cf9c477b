// `openclaw hooks install`: explains how to add a hook, because packages of hooks cannot be installed yet.
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { shortPath } from "../print.ts";

export const command = defineCommand({
  arguments: [{ name: "package", description: "Folder, archive or npm name.", optional: true }],
  examples: [{ line: "hooks install ./my-hook", does: "explains where to copy it" }],
  async run(io) {
    const folder = shortPath(join(io.paths().state, "hooks"), io);
    throw new OpenClawError("hook.no-install", "hooks cannot be installed from packages yet", {
      hint: `copy the folder with HOOK.md and handler.js to ${folder}/<name>, then: openclaw hooks enable <name>`,
    });
  },
});
