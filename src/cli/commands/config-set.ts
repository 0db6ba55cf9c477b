// `openclaw config set`: changes one value, checked before it is written; comments and order of the file stay.
import { changeKey, readingsOf } from "../../config/change.ts";
import { reportChange, targetOf } from "../config-change.ts";
import { defineCommand, UsageError } from "../command.ts";
import { parseJson5 } from "../json5.ts";

export const command = defineCommand({
  details:
    'The value is parsed as JSON5 (numbers, true, ["a"], {b: 1}); anything else is text. With --json it must be JSON5. The result is checked first: a change that would break the config is not written.',
  arguments: [
    { name: "path", description: "Such as gateway.port or agents.list[0].tools.deny." },
    { name: "value", description: "JSON5 or plain text. Put -- before a value that starts with two dashes." },
  ],
  options: {},
  examples: [
    { line: "config set gateway.port 18900", does: "a number" },
    { line: 'config set tools.deny \'["exec", "group:web"]\'', does: "a list" },
    {
      line: "config set 'channels.telegram.groups[\"-100123\"].requireMention' false",
      does: "a key with special characters",
    },
  ],
  async run(io, { arguments: [path = "", written = ""] }) {
    const parsed = parseJson5(written);
    if (io.json && !parsed.ok)
      throw new UsageError(`with --json the value must be JSON5: ${parsed.why}`, ["config", "set"]);
    const values = io.json && parsed.ok ? [parsed.value] : readingsOf(written);
    const change = changeKey(targetOf(io), path, { values }, { stepwise: true });
    reportChange(io, change, change.changed ? `set ${path}` : `${path} already has that value`);
    return 0;
  },
});
