// `openclaw store verify`: checks that every record of the store is readable and unchanged.
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { StoreReport } from "../../store/verify.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { columns, oneLine, shortPath, toJson } from "../print.ts";
import { requireStore } from "../store-file.ts";

export const command = defineCommand({
  options: {
    deep: { type: "boolean", description: "Also make a trial backup and check it." },
  },
  examples: [
    { line: "store verify", does: "every check, with the names of damaged records" },
    { line: "store verify --deep --json", does: "also check that a backup would be good" },
  ],
  exits: "0 intact, 1 damaged or missing, 2 wrong usage",
  async run(io, { options }) {
    const file = requireStore(io);
    const { verifyStore } = await import("../../store/verify.ts");
    const report = await verifyStore(file);
    const copy = options.deep === true && report.ok ? await trialCopy(file) : undefined;
    const ok = report.ok && (copy?.ok ?? true);
    if (io.json) io.print(toJson({ ...report, ok, ...(copy === undefined ? {} : { copy }) }));
    else io.print(linesOf(io, report, copy).join("\n"));
    if (!ok)
      throw new OpenClawError("store.damaged", `${shortPath(file, io)} is damaged`, {
        hint: "restore a backup (openclaw store restore <file>), or copy the readable records: openclaw store salvage",
      });
    return 0;
  },
});

async function trialCopy(file: string): Promise<StoreReport> {
  const { backupStore } = await import("../../store/backup.ts");
  const folder = mkdtempSync(join(dirname(file), ".trial-"));
  try {
    return await backupStore(file, join(folder, "copy.sqlite"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function linesOf(io: Io, { file, checks, counts }: StoreReport, copy: StoreReport | undefined): string[] {
  const rows = [...checks, ...(copy === undefined ? [] : [{ name: "trial copy", ok: copy.ok, detail: "ok" }])];
  const marks = rows.map(({ name, ok, detail }): [string, string] => [
    name,
    `${ok ? io.paint.good("ok") : io.paint.bad("FAILED")}${detail === "ok" ? "" : `: ${oneLine(detail)}`}`,
  ]);
  const numbers = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return [
    shortPath(file, io),
    ...columns(marks, { width: io.width, indent: "  " }),
    `  records: ${numbers.join(", ") || "none"}`,
  ];
}
