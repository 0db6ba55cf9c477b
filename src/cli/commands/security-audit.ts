// `openclaw security audit`: prints the weak spots in config, file modes, sandbox and exposure, most severe first.
import type { AuditReport } from "../../security/audit/audit.ts";
import { weights, type Finding, type Weight } from "../../security/audit/finding.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { repairAll } from "../../security/repair.ts";
import { repairLines, safe, shortPath, toJson, wrap } from "../print.ts";

export const command = defineCommand({
  details:
    "Changes nothing without --fix; it only tries whether the sandbox starts. Each finding has a weight, a reason, a place and the command that fixes it. With --json: { ok, counts: {critical, high, medium, low, info}, findings: [{ id, weight, what, why, where: { path?, file?, line? }, fix, repairable }], repairs: [{ does, failed? }] }.",
  options: {
    deep: { type: "boolean", description: "Also check every other file of the state folder." },
    fix: { type: "boolean", description: "Remove the access of other users to private files. Changes nothing else." },
  },
  examples: [
    { line: "security audit", does: "find weak spots" },
    { line: "security audit --fix", does: "make private files private" },
    { line: "security audit --json | jq '.findings[].fix'", does: "only the commands" },
  ],
  exits: "0 no critical or high finding, 1 at least one, 2 wrong usage",
  async run(io, { options }) {
    const { audit } = await import("../../security/audit/audit.ts");
    const runAudit = (): Promise<AuditReport> => audit({ paths: io.paths(), env: io.env, deep: options.deep === true });
    const first = await runAudit();
    const repairs = options.fix === true ? await repairAll(first.findings) : [];
    const report = repairs.length > 0 ? await runAudit() : first;
    if (io.json) io.print(toJson({ ...report, findings: report.findings.map(toFacts), repairs }));
    else
      io.print(
        [...repairLines(io, repairs), ...report.findings.flatMap((one) => linesOf(io, one)), summary(io, report)].join(
          "\n",
        ),
      );
    return report.ok ? 0 : 1;
  },
});

function linesOf(io: Io, { id, weight, what, why, where, fix }: Finding): string[] {
  const text = (label: string, words: string): string[] => {
    const [head = "", ...more] = wrap(safe(words), io.width - 10);
    return [`  ${io.paint.dim(label.padEnd(6))}  ${head}`, ...more.map((line) => `          ${line}`)];
  };
  const place = placeOf(io, where);
  return [
    `${painted(io, weight)}  ${io.paint.dim(id)}`,
    ...text("what", what),
    ...text("why", why),
    ...(place === "" ? [] : text("where", place)),
    // A command must be copied whole, so it is never wrapped.
    `  ${io.paint.dim("fix   ")}  ${io.paint.strong(safe(fix))}`,
    "",
  ];
}

function painted({ paint }: Io, weight: Weight): string {
  const word = weight.toUpperCase();
  if (weight === "critical" || weight === "high") return paint.bad(word);
  return weight === "medium" ? paint.warn(word) : paint.dim(word);
}

function placeOf(io: Io, { path, file, line }: Finding["where"]): string {
  const spot = file === undefined ? "" : `${shortPath(file, io)}${line === undefined ? "" : `:${line}`}`;
  return [path ?? "", spot].filter((part) => part !== "").join("  ");
}

function summary({ paint }: Io, { ok, counts, findings }: AuditReport): string {
  if (findings.length === 0) return paint.good("No weak spots found.");
  const parts = weights.flatMap((weight) => (counts[weight] === 0 ? [] : [`${counts[weight]} ${weight}`]));
  const words = `${findings.length} ${findings.length === 1 ? "finding" : "findings"}: ${parts.join(", ")}.`;
  const next = ok ? "None is critical or high." : "Start at the top.";
  return `${words} ${next} Test it in practice: openclaw security selftest`;
}

function toFacts({ repair, ...facts }: Finding): Record<string, unknown> {
  return { ...facts, repairable: repair !== undefined };
}
