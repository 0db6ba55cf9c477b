// `openclaw sandbox recreate`: removes sandboxes, so that the next command builds them with the current settings.
import { parseSessionKey } from "../../core/names.ts";
import { defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import type { SandboxFilter } from "../../exec/sandboxes.ts";
import { confirm } from "../ask.ts";
import { withSandboxes } from "../with-sandboxes.ts";
import { defineCommand, UsageError } from "../command.ts";
import { toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  options: {
    all: { type: "boolean", description: "All sandboxes." },
    session: { type: "string", value: "key", description: "The sandbox of one session." },
    agent: { type: "string", value: "id", description: "The sandboxes of one agent." },
    browser: { type: "boolean", description: "Only the browsers of these sandboxes, with their data." },
    force: { type: "boolean", description: "Do not ask for confirmation." },
  },
  examples: [
    { line: "sandbox recreate --all", does: "after a change of the sandbox settings" },
    { line: "sandbox recreate --agent main --force", does: "the sandboxes of one agent, from a script" },
  ],
  async run(io, { options }) {
    const loaded = await requireConfig(io);
    const filter = filterOf(options, loaded.config);
    if (options.force !== true) {
      const question =
        "Remove the sandboxes? Commands that run in them are killed; files outside of the workspace are lost.";
      if (!(await confirm(io, question, "--force"))) return 1;
    }
    const part = options.browser === true ? "browser" : undefined;
    const names = await withSandboxes(io, loaded, (sandboxes) => sandboxes.recreate(filter, part));
    if (io.json) io.print(toJson({ removed: names }));
    else io.print(names.length === 0 ? "No such sandbox." : names.map((name) => `removed ${name}`).join("\n"));
    return 0;
  },
});

function filterOf(
  { all, session, agent }: { readonly all?: boolean; readonly session?: string; readonly agent?: string },
  config: Config,
): SandboxFilter {
  const given = [all, session, agent].filter((value) => value !== undefined);
  if (given.length !== 1)
    throw new UsageError("missing --all, --session <key> or --agent <id>", ["sandbox", "recreate"]);
  if (session !== undefined) {
    return { session: parseSessionKey(session, { defaultAgent: defaultAgentId(config), mainKey: mainKeyOf(config) }) };
  }
  return agent === undefined ? { all: true } : { agent: agent.trim().toLowerCase() };
}
