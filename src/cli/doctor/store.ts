// Is the store whole.
import { existsSync } from "node:fs";

import { storeFileOf } from "../../store/place.ts";
import { shortPath } from "../print.ts";
import { ok, type Check, type Finding } from "./check.ts";

export const store: Check = {
  name: "Store",
  needsConfig: false,
  async look({ io }) {
    const file = storeFileOf(io.paths().state);
    if (!existsSync(file)) return [{ level: "note", message: "none yet; it is made at the first start" }];
    const { verifyStore } = await import("../../store/verify.ts");
    const report = await verifyStore(file);
    if (report.ok) return [ok(`${shortPath(file, io)} is whole`)];
    return report.checks
      .filter((check) => !check.ok)
      .map(({ name, detail }): Finding => ({
        level: "fail",
        message: `${name}: ${detail}`,
        hint: "openclaw store restore <backup>, or save what can be read: openclaw store salvage",
      }));
  },
};
