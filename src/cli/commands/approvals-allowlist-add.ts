// `openclaw approvals allowlist add`: allows another program to run without asking.
import { matchesAll, requirePattern } from "../approval-pattern.ts";
import { atPlace, placeOptions } from "../approvals-place.ts";
import { defineCommand } from "../command.ts";
import { oneLine, toJson } from "../print.ts";
import { approvalLines } from "./approvals-get.ts";

export const command = defineCommand({
  details:
    "Patterns match the whole path: * and ? stop at a slash, ** does not. A name without a slash is rejected, because it would match nothing.",
  arguments: [{ name: "pattern", description: "The program's path, or a pattern for several." }],
  options: {
    agent: { type: "string", value: "id", description: "For one agent (default: all agents)." },
    ...placeOptions,
  },
  examples: [
    { line: "approvals allowlist add /usr/bin/rg", does: "for every agent, on this machine" },
    {
      line: 'approvals allowlist add "~/bin/*" --agent main --gateway',
      does: "for one agent, on the gateway's machine",
    },
  ],
  async run(io, { options, arguments: [pattern = ""] }) {
    requirePattern(pattern);
    if (matchesAll(pattern)) io.say(`${pattern} matches every program, also shells and interpreters`);
    const { agent = "*" } = options;
    const after = await atPlace(io, options, async (place) => {
      const base = await place.read();
      const rules = base.file.agents?.[agent] ?? {};
      const { allowlist = [] } = rules;
      const isThere = allowlist.some(
        (entry) =>
          entry.pattern.toLowerCase() === pattern.toLowerCase() &&
          entry.args === undefined &&
          entry.argPattern === undefined &&
          entry.cwd === undefined,
      );
      if (isThere) {
        io.say(oneLine(`${pattern} is already on the list`));
        return base;
      }
      const agents = { ...base.file.agents, [agent]: { ...rules, allowlist: [...allowlist, { pattern }] } };
      return place.write({ ...base.file, agents }, base);
    });
    io.print(io.json ? toJson(after) : approvalLines(after, io).join("\n"));
    return 0;
  },
});
