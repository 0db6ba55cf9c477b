// `openclaw hooks enable`: enables a hook; a hook in a workspace is pinned to its current content.
import { OpenClawError } from "../../core/error.ts";
import type { Edit } from "../../config/edit.ts";
import { defineCommand } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { allHooksHere, hooksHere, requireHook } from "../hooks-here.ts";
import { shortPath } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details:
    "A hook in a workspace is pinned to its current content, because agents can write there. After a change, enable it again.",
  arguments: [{ name: "name", description: "The hook." }],
  options: {
    workspace: { type: "boolean", description: "Use the hook in a workspace if another one has the same name." },
  },
  examples: [
    { line: "hooks enable session-memory", does: "notes from the end of each session" },
    { line: "hooks enable deploy-note", does: "pinned if it is in a workspace" },
  ],
  async run(io, { options, arguments: [name = ""] }) {
    const loaded = await requireConfig(io);
    const rows = options.workspace === true ? allHooksHere(io, loaded).filter((row) => row.needsPin) : undefined;
    const row = requireHook(rows ?? hooksHere(io, loaded), name);
    const { needsPin, digest, file, source } = row;
    if (source !== "bundled" && file === undefined)
      throw new OpenClawError("hook.bad", `hook ${name} cannot run: ${row.problem ?? "it has no script"}`, {
        hint: `openclaw hooks info ${name}`,
      });
    const entry = ["hooks", "internal", "entries", name];
    const pinned = needsPin && digest !== undefined;
    const change = editConfig(io, `hooks.internal.entries.${name}`, ({ config }): Edit[] => {
      const before = config.hooks?.internal?.entries?.[name];
      return [
        { path: ["hooks", "internal", "enabled"], value: true },
        { path: [...entry, "enabled"], value: true },
        ...(pinned ? [{ path: [...entry, "pin"], value: digest }] : []),
        ...(!pinned && before?.pin !== undefined ? [{ path: [...entry, "pin"], remove: true as const }] : []),
      ];
    });
    const where = pinned && file !== undefined ? `, pinned to the current content of ${shortPath(file, io)}` : "";
    reportChange(io, change, `hook ${name} is enabled${where}`);
    if (row.missing.length > 0 && !io.json) io.say(`it does not run yet; missing: ${row.missing.join(", ")}`);
    return 0;
  },
});
