// `openclaw store salvage`: what can still be read of a damaged store, in a new file.
import { expandHome } from "../../base/paths.ts";
import { defineCommand } from "../command.ts";
import { oneLine, shortPath, toJson } from "../print.ts";
import { requireStore } from "../store-file.ts";

export const command = defineCommand({
  details:
    "The damaged store is only read. Look at what was lost, then put the new file in its place with store restore.",
  arguments: [{ name: "file", description: "Where to (default: beside the store).", optional: true }],
  examples: [
    { line: "store salvage", does: "into openclaw.sqlite.salvaged beside the store" },
    { line: "store salvage /tmp/saved.sqlite --json", does: "with the list of what is lost as data" },
  ],
  async run(io, { arguments: [written] }) {
    const store = requireStore(io);
    const to = written === undefined ? `${store}.salvaged` : expandHome(written, io.paths().home);
    const { salvageStore } = await import("../../store/salvage.ts");
    const { kept, expected, lost, doubts, contentsLent } = await salvageStore(store, to);
    const complete = lost.length === 0 && doubts.length === 0;
    if (io.json) io.print(toJson({ ok: true, complete, file: to, kept, expected, lost, doubts, contentsLent }));
    else {
      io.print(`saved to ${shortPath(to, io)}:`);
      for (const [table, count] of Object.entries(kept)) io.print(`  ${table}: ${count} of ${expected[table]}`);
      if (complete) io.print("nothing was lost");
      for (const doubt of doubts) io.print(`more may be missing: ${oneLine(doubt)}`);
      if (lost.length > 0) io.print(`lost: ${lost.length} records`);
      for (const { table, record, reason } of lost.slice(0, 20))
        io.print(`  ${oneLine(`${table} ${record}: ${reason}`)}`);
      if (lost.length > 20) io.print(`  … and ${lost.length - 20} more (--json names all)`);
      io.say(`Put it in place with: openclaw gateway stop && openclaw store restore ${shortPath(to, io)}`);
    }
    return 0;
  },
});
