// `openclaw store salvage`: copies what is still readable of a damaged store into a new file.
import { expandHome } from "../../base/paths.ts";
import { defineCommand } from "../command.ts";
import { oneLine, shortPath, toJson } from "../print.ts";
import type { Salvaged } from "../../store/salvage.ts";
import { requireStore } from "../store-file.ts";

export const command = defineCommand({
  details: "The damaged store is not changed. Check what was lost, then replace it by the new file with store restore.",
  arguments: [{ name: "file", description: "File to write (default: beside the store).", optional: true }],
  examples: [
    { line: "store salvage", does: "into openclaw.sqlite.salvaged beside the store" },
    { line: "store salvage /tmp/saved.sqlite --json", does: "with the list of lost records as JSON" },
  ],
  options: {
    uncertain: {
      type: "boolean",
      description: "Also save records that may have been deleted, when the damage hides whether they were.",
    },
  },
  async run(io, { arguments: [written], options }) {
    const store = requireStore(io);
    const to = written === undefined ? `${store}.salvaged` : expandHome(written, io.paths().home);
    const { salvageStore } = await import("../../store/salvage.ts");
    const salvaged = await salvageStore(store, to, { uncertain: options.uncertain === true });
    const { kept, lost, doubts } = salvaged;
    const complete = lost.length === 0 && doubts.length === 0;
    if (io.json) io.print(toJson({ ok: true, complete, file: to, ...salvaged }));
    else {
      io.print(`saved to ${shortPath(to, io)}:`);
      for (const table of Object.keys(kept)) io.print(`  ${table}: ${countsOf(table, salvaged)}`);
      if (complete) io.print("no record was lost");
      for (const doubt of doubts) io.print(`more may be missing: ${oneLine(doubt)}`);
      if (lost.length > 0) io.print(`lost: ${lost.length} records`);
      for (const { table, record, reason } of lost.slice(0, 20))
        io.print(`  ${oneLine(`${table} ${record}: ${reason}`)}`);
      if (lost.length > 20) io.print(`  … and ${lost.length - 20} more (--json names all)`);
      io.say(`Use it with: openclaw gateway stop && openclaw store restore ${shortPath(to, io)}`);
    }
    return 0;
  },
});

function countsOf(table: string, { kept, expected, lost, duplicates }: Salvaged): string {
  const [saved, total, dropped] = [kept[table] ?? 0, expected[table] ?? "unknown", duplicates[table] ?? 0];
  const named = lost.filter((one) => one.table === table).length;
  const gone = total === "unknown" ? `at least ${named} lost` : `${total - saved} lost`;
  return [
    total === "unknown" ? `${saved} of an unknown number recovered` : `${saved} of ${total} recovered`,
    ...(total === saved ? [] : [gone]),
    ...(dropped === 0 ? [] : [`${dropped} ${dropped === 1 ? "duplicate" : "duplicates"} dropped`]),
  ].join(", ");
}
