// The result of the security audit in one line.
import { audit } from "../audit/audit.ts";
import { weights } from "../audit/finding.ts";
import { ok, type Check } from "./check.ts";

export const security: Check = {
  name: "Security",
  needsConfig: true,
  async run({ paths, env }) {
    const { counts, findings } = await audit({ paths, env });
    if (findings.length === 0) return [ok("the audit found no weak spots")];
    const parts = weights.flatMap((weight) => (counts[weight] === 0 ? [] : [`${counts[weight]} ${weight}`]));
    return [
      {
        // The audit has its own scale; only a critical finding is a warning here.
        level: counts.critical === 0 ? "note" : "warn",
        message: `the audit has ${findings.length} ${findings.length === 1 ? "finding" : "findings"}: ${parts.join(", ")}`,
        hint: "openclaw security audit",
      },
    ];
  },
};
