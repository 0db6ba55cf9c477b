// `openclaw store backup`: writes one verified file, also while the gateway runs.
import { expandHome } from "../../base/paths.ts";
import { defineCommand } from "../command.ts";
import { shortPath, toJson } from "../print.ts";
import { requireStore } from "../store-file.ts";

export const command = defineCommand({
  arguments: [{ name: "file", description: "File to write; an existing file is never overwritten." }],
  examples: [
    {
      line: "store backup ~/openclaw-backup.sqlite",
      does: "sessions, transcripts, devices, journal: everything in the store",
    },
    { line: "store backup /mnt/usb/openclaw-$(date +%F).sqlite", does: "one per day" },
  ],
  async run(io, { arguments: [written = ""] }) {
    const store = requireStore(io);
    const to = expandHome(written, io.paths().home);
    const { backupStore } = await import("../../store/backup.ts");
    const report = await backupStore(store, to);
    const records = Object.values(report.counts).reduce((sum, count) => sum + count, 0);
    io.print(
      io.json
        ? toJson({ ok: true, file: to, counts: report.counts })
        : `backed up ${records} records to ${shortPath(to, io)} and verified them`,
    );
    if (!io.json) io.say("The config and the workspaces are not in the store; copy them too.");
    return 0;
  },
});
