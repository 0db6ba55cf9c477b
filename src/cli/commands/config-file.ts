// `openclaw config file`: where the config is.
import { existsSync } from "node:fs";

import { defineCommand } from "../command.ts";
import { toJson } from "../print.ts";

export const command = defineCommand({
  examples: [
    { line: "config file", does: "the path, whether the file is there or not" },
    { line: "--dev config file", does: "that of the profile dev" },
  ],
  async run(io) {
    const path = io.paths().config;
    const exists = existsSync(path);
    io.print(io.json ? toJson({ path, exists }) : path);
    if (!exists && !io.json)
      io.say("It is not there yet; without it the defaults hold. A first one: openclaw gateway run --setup");
    return 0;
  },
});
