// Is the store whole.
import { existsSync } from "node:fs";

import { storeFileOf } from "../../store/place.ts";
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
    const report = await verifyStore(file);
    if (report.ok) return [ok(`${shortPath(file, io)} is whole`)];
    const failed = report.checks.filter((check) => !check.ok);
    return failed.map(({ name, detail }, at): Finding => ({
      level: "fail",
      message: `${name}: ${detail}`,
      hint: "openclaw store restore <backup>, or save what can be read: openclaw store salvage",
      ...(at === 0 && onlyIndexes(report) ? { repair: rebuilding(file, shortPath(file, io)) } : {}),
    }));
  },
};

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
