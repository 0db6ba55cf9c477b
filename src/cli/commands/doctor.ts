// `openclaw doctor`: looks at everything that can be wrong on this machine, says how to mend it, and mends what is safe.
import { loadConfig } from "../../config/load.ts";
import { defineCommand } from "../command.ts";
import type { Finding, Patient } from "../doctor/check.ts";
import { checks } from "../doctor/list.ts";
import type { Io } from "../io.ts";
import { safe, toJson } from "../print.ts";
import { repairAll, repairLines, type Repaired } from "../repair.ts";

interface Looked {
  readonly check: string;
  readonly finding: Finding;
}

// A repair may bring out what was hidden behind it, such as a missing token in a config that could not be read.
const MAX_ROUNDS = 3;

export const command = defineCommand({
  summary: "Look for what is wrong on this machine and say how to mend it.",
  details:
    "Changes nothing without --fix. With it, only what is safe is done: rights of files, older keys moved, keys nothing reads taken out (the old file is kept), a missing token made.",
  options: {
    fix: { type: "boolean", description: "Mend what is safe to mend, and name each step." },
    yes: { type: "boolean", description: "The same as --fix." },
    "non-interactive": { type: "boolean", description: "Never ask. It never does; for scripts that pass it." },
  },
  examples: [
    { line: "doctor", does: "look" },
    { line: "doctor --fix", does: "mend" },
    { line: "doctor --json", does: "findings as data" },
  ],
  exits: "0 nothing is broken (notes and warnings may be printed), 1 something is, 2 the command line was wrong",
  async run(io, { options }) {
    const mends = options.fix === true || options.yes === true;
    const repairs: Repaired[] = [];
    let looked = await lookAtAll(io);
    for (
      let round = 0;
      mends && round < MAX_ROUNDS && looked.some(({ finding }) => finding.repair !== undefined);
      round++
    ) {
      repairs.push(...(await repairAll(looked.map(({ finding }) => finding))));
      looked = await lookAtAll(io);
    }
    const isBroken = looked.some(({ finding }) => finding.level === "fail");
    if (io.json) io.print(toJson({ ok: !isBroken, findings: looked.map(toFacts), repairs }));
    else
      io.print(
        [
          ...mendedLines(io, repairs),
          ...looked.flatMap((entry) => linesOf(io, entry)),
          "",
          summary(io, looked, mends),
        ].join("\n"),
      );
    return isBroken ? 1 : 0;
  },
});

async function lookAtAll(io: Io): Promise<Looked[]> {
  const patient: Patient = { io, loaded: loadConfig({ paths: io.paths(), env: io.env }) };
  const all: Looked[] = [];
  for (const check of checks) {
    const findings = check.needsConfig && !patient.loaded.valid ? skipped : await check.look(patient);
    all.push(...findings.map((finding): Looked => ({ check: check.name, finding })));
  }
  return all;
}

const skipped: readonly Finding[] = [{ level: "note", message: "not looked at: the config is not valid" }];

function mendedLines(io: Io, repairs: readonly Repaired[]): string[] {
  if (repairs.length === 0) return [];
  return [io.paint.strong("Mended:"), ...repairLines(io, repairs).map((line) => `  ${line}`), ""];
}

function linesOf(io: Io, { check, finding }: Looked): string[] {
  const { paint } = io;
  const marks = { ok: paint.good("ok  "), note: paint.dim("note"), warn: paint.warn("warn"), fail: paint.bad("FAIL") };
  const line = `${marks[finding.level]}  ${check.padEnd(12)}  ${safe(finding.message)}`;
  return finding.hint === undefined ? [line] : [line, `${" ".repeat(20)}${paint.dim("fix:")} ${safe(finding.hint)}`];
}

function summary(io: Io, left: readonly Looked[], mends: boolean): string {
  const count = (level: Finding["level"]): number => left.filter(({ finding }) => finding.level === level).length;
  const repairable = left.filter(({ finding }) => finding.repair !== undefined).length;
  const [fail, warn] = [count("fail"), count("warn")];
  const words = fail + warn === 0 ? io.paint.good("All is well.") : `${fail} broken, ${warn} to look at.`;
  const more = repairable > 0 && !mends ? ` ${repairable} of these can be mended with: openclaw doctor --fix` : "";
  return `${words}${more}`;
}

function toFacts({ check, finding }: Looked): Record<string, unknown> {
  const { repair, ...facts } = finding;
  return { check, ...facts, repairable: repair !== undefined };
}
