// `openclaw config unset`: removes one value from the file.
import { changeKey } from "../../config/change.ts";
import { reportChange, targetOf } from "../config-change.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  arguments: [{ name: "path", description: "Such as gateway.port or tools.deny[0]." }],
  examples: [
    { line: "config unset gateway.port", does: "back to the default" },
    { line: "config unset 'tools.deny[0]'", does: "the first entry of a list" },
  ],
  exits: "0 removed, 1 the value was not set or the rest would be invalid, 2 wrong usage",
  async run(io, { arguments: [path = ""] }) {
    const change = changeKey(targetOf(io), path, { remove: true }, { stepwise: true });
    reportChange(io, change, `removed ${path}`);
    return 0;
  },
});
