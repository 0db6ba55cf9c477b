// `openclaw doctor`: prints what the doctor finds and how to fix it; --fix repairs what is safe to repair.
import { loadConfig } from "../../config/load.ts";
import type { CheckContext, GatewayProbe } from "../../security/doctor/check.ts";
import { diagnose, type CheckedFinding } from "../../security/doctor/doctor.ts";
import type { Repaired } from "../../security/repair.ts";
import { defineCommand } from "../command.ts";
import { readGatewayState } from "../gateway-state.ts";
import type { Io } from "../io.ts";
import { oneLine, repairLines, safe, toJson } from "../print.ts";

export const command = defineCommand({
  details:
    "Changes nothing without --fix. With --fix it only makes safe changes: file modes, older keys moved, unknown keys removed (the old file is kept), a missing token generated.",
  options: {
    fix: { type: "boolean", description: "Repair what is safe to repair, and list each step." },
    yes: { type: "boolean", description: "Same as --fix." },
    "non-interactive": { type: "boolean", description: "Accepted for scripts; this command never asks." },
  },
  examples: [
    { line: "doctor", does: "find problems" },
    { line: "doctor --fix", does: "repair them" },
    { line: "doctor --json", does: "findings as JSON" },
  ],
  exits: "0 no failures (there may be notes and warnings), 1 something is broken, 2 wrong usage",
  async run(io, { options }) {
    const fix = options.fix === true || options.yes === true;
    const contextNow = (): CheckContext => ({
      paths: io.paths(),
      env: io.env,
      loaded: loadConfig({ paths: io.paths(), env: io.env }),
      probeGateway: () => probeGateway(io),
    });
    const { findings, repairs } = await diagnose(contextNow, fix);
    const isBroken = findings.some(({ finding }) => finding.level === "fail");
    if (io.json) io.print(toJson({ ok: !isBroken, findings: findings.map(toFacts), repairs }));
    else
      io.print(
        [
          ...repairedLines(io, repairs),
          ...findings.flatMap((entry) => linesOf(io, entry)),
          "",
          summary(io, findings, fix),
        ].join("\n"),
      );
    return isBroken ? 1 : 0;
  },
});

async function probeGateway(io: Io): Promise<GatewayProbe> {
  const { target, owner, listening, probe } = await readGatewayState(io, {}, { health: {} });
  const facts = { url: target.url, ownerPid: owner?.pid, isListening: listening };
  if (!probe.ok) return { ...facts, answer: probe };
  const { trouble } = (probe.answers["health"] ?? {}) as { trouble?: unknown };
  return {
    ...facts,
    answer: {
      ok: true,
      uptimeMs: probe.hello.snapshot.uptimeMs,
      trouble: typeof trouble === "string" ? trouble : undefined,
    },
  };
}

function repairedLines(io: Io, repairs: readonly Repaired[]): string[] {
  if (repairs.length === 0) return [];
  return [io.paint.strong("Repaired:"), ...repairLines(io, repairs).map((line) => `  ${line}`), ""];
}

function linesOf(io: Io, { check, finding }: CheckedFinding): string[] {
  const { paint } = io;
  const marks = { ok: paint.good("ok  "), note: paint.dim("note"), warn: paint.warn("warn"), fail: paint.bad("FAIL") };
  const line = `${marks[finding.level]}  ${check.padEnd(12)}  ${oneLine(finding.message)}`;
  return finding.hint === undefined ? [line] : [line, `${" ".repeat(20)}${paint.dim("fix:")} ${safe(finding.hint)}`];
}

function summary(io: Io, findings: readonly CheckedFinding[], isFixed: boolean): string {
  const count = (level: CheckedFinding["finding"]["level"]): number =>
    findings.filter(({ finding }) => finding.level === level).length;
  const repairable = findings.filter(({ finding }) => finding.repair !== undefined).length;
  const [fail, warn] = [count("fail"), count("warn")];
  const text = fail + warn === 0 ? io.paint.good("No problems found.") : `${fail} broken, ${warn} to review.`;
  const more = repairable > 0 && !isFixed ? ` Repair ${repairable} of these with: openclaw doctor --fix` : "";
  return `${text}${more}`;
}

function toFacts({ check, finding }: CheckedFinding): Record<string, unknown> {
  const { repair, ...facts } = finding;
  return { check, ...facts, repairable: repair !== undefined };
}
