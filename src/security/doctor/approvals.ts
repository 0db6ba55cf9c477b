// Whether the approvals file exists and is readable.
import { approvalsCaution, inspectApprovals } from "../../exec/policy/file.ts";
import { ok, type Check } from "./check.ts";

export const approvals: Check = {
  name: "Approvals",
  needsConfig: false,
  run({ paths }) {
    const { state } = paths;
    const caution = approvalsCaution(state);
    if (caution !== undefined) return [{ level: "warn", message: caution.text, hint: caution.fix }];
    return [
      ok(inspectApprovals(state).exists ? "exec-approvals.json is readable" : "no exec-approvals.json, so no rules"),
    ];
  },
};
