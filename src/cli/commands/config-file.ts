// `openclaw config file`: prints the path of the config.
import { existsSync } from "node:fs";

import { defineCommand } from "../command.ts";
import { toJson } from "../print.ts";

export const command = defineCommand({
  examples: [
    { line: "config file", does: "the path, also if the file does not exist" },
    { line: "--dev config file", does: "the path for the profile dev" },
  ],
  async run(io) {
    const path = io.paths().config;
    const exists = existsSync(path);
    io.print(io.json ? toJson({ path, exists }) : path);
    if (!exists && !io.json)
      io.say("The file does not exist yet, so the defaults apply. Create one with: openclaw gateway run --setup");
    return 0;
  },
});
