// Whether the store is intact.
import { existsSync } from "node:fs";

import { OpenClawError } from "../../core/error.ts";
import { systemClock } from "../../base/clock.ts";
import { spaceProblem } from "../../store/leftovers.ts";
import { storeFileOf } from "../../store/store-files.ts";
import { readStoreRecord } from "../../store/store-record.ts";
import { ok, shortPath, type Check, type Finding } from "./check.ts";
import type { Repair } from "../repair.ts";

export const store: Check = {
  name: "Store",
  needsConfig: false,
  async run({ paths }) {
    const file = storeFileOf(paths.state);
    if (!existsSync(file)) return [{ level: "note", message: "none yet; the first start creates it" }];
    const { isRebuildable, verifyStore } = await import("../../store/verify.ts");
    const notes = [...lostFinding(file), ...spaceFinding(file)];
    const report = await verifyStore(file).catch((error: unknown) => cannotCheck(error));
    if ("level" in report) return [report, ...notes];
    if (report.ok) return [ok(`${shortPath(file, { paths })} is intact`), ...notes];
    const failed = report.checks.filter((check) => !check.ok);
    const findings = failed.map(({ name, detail }, at): Finding => ({
      level: "fail",
      message: `${name}: ${detail}`,
      hint: "openclaw store restore <backup>, or copy the readable records: openclaw store salvage",
      ...(at === 0 && isRebuildable(report) ? { repair: rebuilding(file, shortPath(file, { paths })) } : {}),
    }));
    return [...findings, ...notes];
  },
};

/** A gateway that started on a full disk locks the store until it is restarted. */
function cannotCheck(error: unknown): Finding {
  if (!(error instanceof OpenClawError)) throw error;
  const hint = "free some space, then: openclaw gateway restart && openclaw doctor";
  return { level: "warn", message: `not checked: ${error.message}`, hint };
}

/** How long a lost store is reported. */
const RECENT_MS = 14 * 24 * 3_600_000;

function lostFinding(file: string): Finding[] {
  const { lostAt } = readStoreRecord(file) ?? {};
  if (lostAt === undefined || systemClock.now() - lostAt > RECENT_MS) return [];
  return [
    {
      level: "warn",
      message: `a start on ${new Date(lostAt).toISOString()} found the store missing or empty and created a new one`,
      hint: "if you did not delete it, stop the gateway and restore a backup: openclaw store restore <file>",
    },
  ];
}

function spaceFinding(file: string): Finding[] {
  const problem = spaceProblem(file);
  return problem === undefined ? [] : [{ level: "warn", message: problem.message, hint: problem.hint }];
}

function rebuilding(file: string, shown: string): Repair {
  return {
    does: `rebuild ${shown} from its records and keep the old file`,
    async apply() {
      const { rebuildStore } = await import("../../store/rebuild.ts");
      await rebuildStore(file);
    },
  };
}
