// `openclaw doctor`: looks at everything that can be wrong on this machine, says how to mend it, and mends what is safe.
import { loadConfig } from "../../config/load.ts";
import { defineCommand } from "../command.ts";
import type { Finding, Patient } from "../doctor/check.ts";
import { checks } from "../doctor/list.ts";
import type { Io } from "../io.ts";
import { safe, toJson } from "../print.ts";

interface Looked {
  readonly check: string;
  readonly finding: Finding;
  /** What --fix did, or why it could not. */
  repaired?: string;
}

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
    const looked = await lookAtAll(io);
    const mended = mends ? repair(looked) : 0;
    // After repairs only what is still so counts.
    const left = mended > 0 ? await lookAtAll(io) : looked;
    if (io.json)
      io.print(
        toJson({
          ok: !isBroken(left),
          findings: looked.map(toFacts),
          ...(mended > 0 ? { left: left.map(toFacts) } : {}),
        }),
      );
    else io.print([...looked.flatMap((entry) => linesOf(io, entry)), "", summary(io, left, mends, mended)].join("\n"));
    return isBroken(left) ? 1 : 0;
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

function repair(looked: readonly Looked[]): number {
  let done = 0;
  for (const entry of looked) {
    const mend = entry.finding.repair;
    if (mend === undefined) continue;
    try {
      mend.apply();
      entry.repaired = `done: ${mend.does}`;
      done += 1;
    } catch (error) {
      entry.repaired = `could not ${mend.does}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return done;
}

function isBroken(looked: readonly Looked[]): boolean {
  return looked.some(({ finding }) => finding.level === "fail");
}

function linesOf(io: Io, { check, finding, repaired }: Looked): string[] {
  const { paint } = io;
  const marks = { ok: paint.good("ok  "), note: paint.dim("note"), warn: paint.warn("warn"), fail: paint.bad("FAIL") };
  const gap = " ".repeat(20);
  return [
    `${marks[finding.level]}  ${check.padEnd(12)}  ${safe(finding.message)}`,
    ...(finding.hint === undefined || repaired?.startsWith("done") === true
      ? []
      : [`${gap}${paint.dim("fix:")} ${safe(finding.hint)}`]),
    ...(repaired === undefined ? [] : [`${gap}${paint.strong(safe(repaired))}`]),
  ];
}

function summary(io: Io, left: readonly Looked[], mends: boolean, mended: number): string {
  const count = (level: Finding["level"]): number => left.filter(({ finding }) => finding.level === level).length;
  const repairable = left.filter(({ finding }) => finding.repair !== undefined).length;
  const [fail, warn] = [count("fail"), count("warn")];
  const words = fail + warn === 0 ? io.paint.good("All is well.") : `${fail} broken, ${warn} to look at.`;
  const did = mended === 0 ? "" : ` ${mended} mended.`;
  const more = repairable > 0 && !mends ? ` ${repairable} of these can be mended with: openclaw doctor --fix` : "";
  return `${words}${did}${more}`;
}

function toFacts({ check, finding, repaired }: Looked): Record<string, unknown> {
  const { repair: mend, ...facts } = finding;
  return { check, ...facts, repairable: mend !== undefined, ...(repaired === undefined ? {} : { repaired }) };
}
