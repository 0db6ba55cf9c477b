// `openclaw config unset`: takes one value out of the file.
import { changeKey } from "../../config/change.ts";
import { reportChange, targetOf } from "../config-change.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  arguments: [{ name: "path", description: "Such as gateway.port or tools.deny[0]." }],
  examples: [
    { line: "config unset gateway.port", does: "back to the default" },
    { line: "config unset 'tools.deny[0]'", does: "the first entry of a list" },
  ],
  exits: "0 removed, 1 it was not there or the rest would not be valid, 2 wrong usage",
  async run(io, { arguments: [path = ""] }) {
    const change = changeKey(targetOf(io), path, { remove: true }, { stepwise: true });
    reportChange(io, change, `removed ${path}`);
    return 0;
  },
});
