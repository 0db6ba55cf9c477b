// `openclaw store restore`: replaces the store by a verified backup and keeps the old store.
import { expandHome } from "../../base/paths.ts";
import { restoreStore } from "../../store/restore.ts";
import { storeFileOf } from "../../store/store-files.ts";
import { defineCommand } from "../command.ts";
import { shortPath, toJson } from "../print.ts";

export const command = defineCommand({
  arguments: [{ name: "file", description: "The backup, from openclaw store backup." }],
  examples: [
    { line: "gateway stop && openclaw store restore ~/openclaw-backup.sqlite", does: "stop, then restore" },
    { line: "store restore ~/openclaw-backup.sqlite --json", does: "for scripts, with the path of the old store" },
  ],
  async run(io, { arguments: [written = ""] }) {
    const from = expandHome(written, io.paths().home);
    const { report, replaced } = await restoreStore(from, storeFileOf(io.paths().state));
    if (io.json) io.print(toJson({ ok: true, file: report.file, counts: report.counts, replaced: replaced ?? null }));
    else {
      io.print(`restored ${shortPath(report.file, io)} from ${shortPath(from, io)}`);
      if (replaced !== undefined) io.say(`The old store is kept at ${shortPath(replaced, io)}`);
    }
    return 0;
  },
});
