// `openclaw hooks list`: lists the hooks and their state.
import type { HookRow } from "../../plugin/hook/hook.ts";
import { defineCommand } from "../command.ts";
import { hookJson, hooksHere, isEligible, stateText } from "../hooks-here.ts";
import { table, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  options: {
    eligible: { type: "boolean", description: "Only hooks whose requirements are met." },
    verbose: { type: "boolean", short: "v", description: "Also show their folders and missing requirements." },
  },
  examples: [
    { line: "hooks list", does: "all hooks and whether they run" },
    { line: "hooks list --eligible --json", does: "hooks whose requirements are met, as JSON" },
  ],
  async run(io, { options }) {
    const rows = hooksHere(io, await requireConfig(io)).filter((row) => options.eligible !== true || isEligible(row));
    if (io.json) io.print(toJson({ hooks: rows.map(hookJson) }));
    else if (rows.length === 0) io.print("No hooks.");
    else io.print(table(rows, options.verbose === true ? [...columns, ...more] : columns, io).join("\n"));
    return 0;
  },
});

const columns = [
  { title: "NAME", text: ({ name }: HookRow) => name },
  { title: "STATE", text: (row: HookRow) => stateText(row) },
  { title: "SOURCE", text: ({ source }: HookRow) => source },
  { title: "EVENTS", text: ({ events }: HookRow) => events.join(", ") },
  { title: "WHAT", text: ({ description }: HookRow) => description },
];

const more = [
  { title: "MISSING", text: ({ missing, problem }: HookRow) => problem ?? missing.join(", ") },
  { title: "FOLDER", text: ({ folder }: HookRow) => folder ?? "" },
];
