// What the security audit would say, in one line.
import { audit } from "../../security/audit/audit.ts";
import { weights } from "../../security/audit/finding.ts";
import { ok, type Check } from "./check.ts";

export const security: Check = {
  name: "Security",
  needsConfig: true,
  async look({ io }) {
    const { counts, findings } = await audit({ paths: io.paths(), env: io.env });
    if (findings.length === 0) return [ok("the audit found nothing weak")];
    const parts = weights.flatMap((weight) => (counts[weight] === 0 ? [] : [`${counts[weight]} ${weight}`]));
    return [
      {
        // The audit has its own scale; here only what lets somebody in today counts as something to mend.
        level: counts.critical === 0 ? "note" : "warn",
        message: `the audit has ${findings.length} ${findings.length === 1 ? "finding" : "findings"}: ${parts.join(", ")}`,
        hint: "openclaw security audit",
      },
    ];
  },
};
