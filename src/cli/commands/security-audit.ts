// `openclaw security audit`: reads config, file modes, sandbox and exposure, and prints what is weak, heaviest first.
import type { AuditReport } from "../../security/audit/audit.ts";
import { weights, type Finding, type Weight } from "../../security/audit/finding.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { safe, shortPath, toJson, wrap } from "../print.ts";
import { repairAll, repairLines } from "../repair.ts";

export const command = defineCommand({
  summary: "Look for weak spots in config, files, sandbox and exposure.",
  details:
    "Changes nothing without --fix, and starts nothing but a trial of the sandbox. Each finding has a weight, a reason, the place it is written and the command that mends it. With --json: { ok, counts: {critical, high, medium, low, info}, findings: [{ id, weight, what, why, where: { path?, file?, line? }, fix, repairable }], mended: [{ does, failed? }] }.",
  options: {
    deep: { type: "boolean", description: "Also look at every other file of the state folder." },
    fix: { type: "boolean", description: "Take rights of other users off private files. Changes nothing else." },
  },
  examples: [
    { line: "security audit", does: "look" },
    { line: "security audit --fix", does: "make private files private" },
    { line: "security audit --json | jq '.findings[].fix'", does: "only the commands" },
  ],
  exits: "0 nothing critical or high was found, 1 something was, 2 the command line was wrong",
  async run(io, { options }) {
    const { audit } = await import("../../security/audit/audit.ts");
    const look = (): Promise<AuditReport> => audit({ paths: io.paths(), env: io.env, deep: options.deep === true });
    const first = await look();
    const mended = options.fix === true ? await repairAll(first.findings) : [];
    const report = mended.length > 0 ? await look() : first;
    if (io.json) io.print(toJson({ ...report, findings: report.findings.map(toFacts), mended }));
    else
      io.print(
        [...repairLines(io, mended), ...report.findings.flatMap((one) => linesOf(io, one)), summary(io, report)].join(
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
  if (findings.length === 0) return paint.good("Nothing weak was found.");
  const parts = weights.flatMap((weight) => (counts[weight] === 0 ? [] : [`${counts[weight]} ${weight}`]));
  const words = `${findings.length} ${findings.length === 1 ? "finding" : "findings"}: ${parts.join(", ")}.`;
  const next = ok ? "Nothing critical or high." : "Start at the top.";
  return `${words} ${next} See what holds in practice: openclaw security selftest`;
}

function toFacts({ repair, ...facts }: Finding): Record<string, unknown> {
  return { ...facts, repairable: repair !== undefined };
}
