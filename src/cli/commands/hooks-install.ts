// `openclaw hooks install`: says how a hook gets here until packages of them can be installed.
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { shortPath } from "../print.ts";

export const command = defineCommand({
  arguments: [{ name: "package", description: "Folder, archive or npm name.", optional: true }],
  examples: [{ line: "hooks install ./my-hook", does: "says where to put it instead" }],
  async run(io) {
    const folder = shortPath(join(io.paths().state, "hooks"), io);
    throw new OpenClawError("hook.no-install", "hooks cannot be installed from packages yet; that comes with plugins", {
      hint: `copy the folder with HOOK.md and handler.js to ${folder}/<name>, then: openclaw hooks enable <name>`,
    });
  },
});
