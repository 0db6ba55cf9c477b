// `openclaw hooks info`: shows one hook in detail.
import { defineCommand } from "../command.ts";
import { hookJson, hooksHere, requireHook, stateText } from "../hooks-here.ts";
import { columns, shortPath, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  arguments: [{ name: "name", description: "The hook." }],
  examples: [{ line: "hooks info session-memory", does: "whether it runs, and what it requires" }],
  async run(io, { arguments: [name = ""] }) {
    const row = requireHook(hooksHere(io, await requireConfig(io)), name);
    if (io.json) {
      io.print(toJson(hookJson(row)));
      return 0;
    }
    const { bins, anyBins, env, config, os } = row.requires;
    const needs = [...bins, ...anyBins, ...env, ...config, ...os];
    const lines: (readonly [string, string])[] = [
      ["state", stateText(row)],
      ["events", row.events.join(", ")],
      ["source", row.folder === undefined ? row.source : `${row.source}, ${shortPath(row.folder, io)}`],
      ["requires", needs.length === 0 ? "none" : needs.join(", ")],
      ...(row.missing.length === 0 ? [] : [["missing", row.missing.join(", ")] as const]),
      ...(row.problem === undefined ? [] : [["problem", row.problem] as const]),
      ...(row.homepage === undefined ? [] : [["more", row.homepage] as const]),
    ];
    io.print([`${row.name}: ${row.description}`, ...columns(lines, { width: io.width, indent: "  " })].join("\n"));
    return 0;
  },
});
