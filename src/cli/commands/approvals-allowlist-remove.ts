// `openclaw approvals allowlist remove`: removes a program, which then needs approval again.
import { OpenClawError } from "../../core/error.ts";
import { atPlace, placeOptions } from "../approvals-place.ts";
import { defineCommand } from "../command.ts";
import { oneLine, toJson } from "../print.ts";
import { approvalLines } from "./approvals-get.ts";

export const command = defineCommand({
  details: "Removes all entries with that pattern, also those limited to arguments or a folder.",
  arguments: [{ name: "pattern", description: "As approvals get shows it." }],
  options: {
    agent: { type: "string", value: "id", description: "The list of one agent (default: the list for all)." },
    ...placeOptions,
  },
  examples: [{ line: "approvals allowlist remove /usr/bin/rg --agent main", does: "it needs approval again" }],
  async run(io, { options, arguments: [pattern = ""] }) {
    const { agent = "*" } = options;
    const after = await atPlace(io, options, async (place) => {
      const base = await place.read();
      const rules = base.file.agents?.[agent] ?? {};
      const kept = (rules.allowlist ?? []).filter((entry) => entry.pattern !== pattern);
      if (kept.length === (rules.allowlist ?? []).length) throw notThere(pattern, agent);
      const agents = { ...base.file.agents, [agent]: { ...rules, allowlist: kept } };
      return place.write({ ...base.file, agents }, base);
    });
    io.print(io.json ? toJson(after) : approvalLines(after, io).join("\n"));
    return 0;
  },
});

function notThere(pattern: string, agent: string): OpenClawError {
  const whose = agent === "*" ? "the list for all agents" : `the list of agent ${agent}`;
  return new OpenClawError("approvals.not-there", oneLine(`${pattern} is not on ${whose}; nothing was changed`), {
    hint: "openclaw approvals get shows every list; --agent chooses one",
  });
}
