// Is the store whole.
import { existsSync } from "node:fs";

import { OpenClawError } from "../../core/error.ts";
import { systemClock } from "../../base/clock.ts";
import { spaceProblem } from "../../store/leftovers.ts";
import { storeFileOf } from "../../store/place.ts";
import { readStoreRecord } from "../../store/store-record.ts";
import type { StoreReport } from "../../store/verify.ts";
import { shortPath } from "../print.ts";
import { ok, type Check, type Finding, type Repair } from "./check.ts";

export const store: Check = {
  name: "Store",
  needsConfig: false,
  async look({ io }) {
    const file = storeFileOf(io.paths().state);
    if (!existsSync(file)) return [{ level: "note", message: "none yet; it is made at the first start" }];
    const { verifyStore } = await import("../../store/verify.ts");
    const notes = [...lostFinding(file), ...roomFinding(file)];
    const report = await verifyStore(file).catch((error: unknown) => cannotLook(error));
    if ("level" in report) return [report, ...notes];
    if (report.ok) return [ok(`${shortPath(file, io)} is whole`), ...notes];
    const failed = report.checks.filter((check) => !check.ok);
    const findings = failed.map(({ name, detail }, at): Finding => ({
      level: "fail",
      message: `${name}: ${detail}`,
      hint: "openclaw store restore <backup>, or save what can be read: openclaw store salvage",
      ...(at === 0 && onlyIndexes(report) ? { repair: rebuilding(file, shortPath(file, io)) } : {}),
    }));
    return [...findings, ...notes];
  },
};

/** A gateway that started on a full disk keeps the store to itself until it is restarted. */
function cannotLook(error: unknown): Finding {
  if (!(error instanceof OpenClawError)) throw error;
  const hint = "free some space, then: openclaw gateway restart && openclaw doctor";
  return { level: "warn", message: `cannot be checked now: ${error.message}`, hint };
}

/** Long enough for somebody to look, without asking about it forever. */
const RECENT_MS = 14 * 24 * 3_600_000;

function lostFinding(file: string): Finding[] {
  const { lostAt } = readStoreRecord(file) ?? {};
  if (lostAt === undefined || systemClock.now() - lostAt > RECENT_MS) return [];
  return [
    {
      level: "warn",
      message: `a start on ${new Date(lostAt).toISOString()} found no store, or an empty one, where one had been, and made a new one`,
      hint: "if that was not meant, stop the gateway and put a backup in its place: openclaw store restore <file>",
    },
  ];
}

function roomFinding(file: string): Finding[] {
  const problem = spaceProblem(file);
  return problem === undefined ? [] : [{ level: "warn", message: problem.message, hint: problem.hint }];
}

/** Every record can be read and trusted: what is damaged is derived from them. */
function onlyIndexes({ checks, damages }: StoreReport): boolean {
  const isDerived = (name: string, detail: string): boolean =>
    name === "integrity" || detail.startsWith("cannot be told");
  return damages.length === 0 && checks.every(({ name, ok: isOk, detail }) => isOk || isDerived(name, detail));
}

function rebuilding(file: string, shown: string): Repair {
  return {
    does: `build ${shown} anew from its records, and keep the old file`,
    async apply() {
      const { rebuildStore } = await import("../../store/rebuild.ts");
      await rebuildStore(file);
    },
  };
}
