// `openclaw hooks disable`: disables a hook.
import type { Edit } from "../../config/edit.ts";
import { defineCommand } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { hooksHere, requireHook } from "../hooks-here.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  arguments: [{ name: "name", description: "The hook." }],
  examples: [{ line: "hooks disable command-logger", does: "no more lines in logs/commands.log" }],
  async run(io, { arguments: [name = ""] }) {
    const loaded = await requireConfig(io);
    const entries = loaded.config.hooks?.internal?.entries ?? {};
    // A hook that was deleted from the disk can still be named in the config.
    if (!Object.hasOwn(entries, name)) requireHook(hooksHere(io, loaded), name);
    const change = editConfig(io, `hooks.internal.entries.${name}`, (): Edit[] => [
      { path: ["hooks", "internal", "entries", name, "enabled"], value: false },
    ]);
    reportChange(io, change, `hook ${name} is disabled`);
    return 0;
  },
});
