// `openclaw security selftest`: attacks a temporary copy of the user's setup and prints which attacks were blocked.
import type { AreaScore, Hole, SelftestReport } from "../../security/selftest/selftest.ts";
import { defineCommand, UsageError } from "../command.ts";
import { onInterrupt } from "../interrupt.ts";
import type { Io } from "../io.ts";
import { safe, toJson, wrap } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details:
    "Copies the rules of your config into a temporary state with fresh secrets, without channels, models or network, and runs the bundled attacks through the same path as every tool call. The attacks touch only that temporary folder. Each area gets a score of 100; every open hole is printed with the key that opens it and the command that closes it. With --json: { ok, agent, sandboxed, cases, score, areas: [{ area, cases, closed, score }], holes: [{ id, area, wants, expect, ended, hole, because?, fix }], controls: { cases, working, broken: [{ id, does, why }] }, notes: [] }.",
  options: {
    area: {
      type: "string",
      value: "name",
      multiple: true,
      description: "Only this area; exec means all four exec areas.",
    },
    agent: { type: "string", value: "id", description: "Attack as this agent (default: the default agent)." },
    all: { type: "boolean", description: "Print every open hole, not only the first ones of each area." },
  },
  examples: [
    { line: "security selftest", does: "everything" },
    { line: "security selftest --area exec --area sandbox", does: "some areas" },
    { line: "security selftest --json | jq .score", does: "one figure, for a script" },
  ],
  exits:
    "0 every attack was blocked and everyday use works, 1 an attack succeeded or everyday use is broken, 2 wrong usage",
  async run(io, { options }) {
    const [{ selftest }, { areas: known }] = await Promise.all([
      import("../../security/selftest/selftest.ts"),
      import("../../security/selftest/case.ts"),
    ]);
    const chosen = (options.area ?? []).flatMap((word) => {
      const found = known.filter((area) => area === word || area.startsWith(`${word}-`));
      if (found.length === 0)
        throw new UsageError(`there is no area ${word}; areas: ${known.join(", ")}`, ["security", "selftest"]);
      return found;
    });
    const stopped = new AbortController();
    const release = onInterrupt(() => stopped.abort());
    const report = await selftest({
      loaded: await requireConfig(io),
      paths: io.paths(),
      env: io.env,
      agent: options.agent,
      areas: chosen.length === 0 ? undefined : chosen,
      signal: stopped.signal,
      ...(io.interactive ? { progress: (done: number, of: number) => io.write(`\r${done} of ${of} `) } : {}),
    }).finally(release);
    if (io.interactive) io.write("\r\u001b[K");
    if (io.json) io.print(toJson(report));
    else io.print(linesOf(io, report, options.all === true).join("\n"));
    return report.ok ? 0 : 1;
  },
});

const SHOWN_PER_REASON = 3;

function linesOf(io: Io, report: SelftestReport, all: boolean): string[] {
  const { agent, sandboxed, cases, score, areas, holes, controls, notes } = report;
  return [
    io.paint.strong(`Attacked as agent ${safe(agent)}, ${sandboxed ? "sandboxed" : "not sandboxed"}: ${cases} attacks`),
    "",
    ...areas.map((area) => scoreLine(io, area)),
    `  ${"all".padEnd(16)} ${painted(io, score)}`,
    "",
    ...holeLines(io, holes, all),
    ...controlLines(io, controls),
    ...notes.flatMap((note) => wrap(`note: ${safe(note)}`, io.width)),
  ];
}

function scoreLine(io: Io, { area, cases, closed, score }: AreaScore): string {
  return `  ${area.padEnd(16)} ${painted(io, score)}  ${io.paint.dim(`${closed} of ${cases} blocked`)}`;
}

function painted({ paint }: Io, score: number): string {
  const text = `${String(score).padStart(3)}/100`;
  if (score === 100) return paint.good(text);
  return score >= 80 ? paint.warn(text) : paint.bad(text);
}

/** Groups holes with the same cause: one fix closes all of them. */
function holeLines(io: Io, holes: readonly Hole[], all: boolean): string[] {
  if (holes.length === 0) return [io.paint.good("No open hole."), ""];
  const byCause = Map.groupBy(holes, ({ because, fix }) => `${because ?? ""}\n${fix}`);
  return [
    io.paint.bad(`${holes.length} open ${holes.length === 1 ? "hole" : "holes"}:`),
    ...[...byCause.values()].flatMap((group) => causeLines(io, group, all)),
    "",
  ];
}

function causeLines({ paint, width }: Io, group: readonly Hole[], all: boolean): string[] {
  const [first] = group;
  const shown = all ? group : group.slice(0, SHOWN_PER_REASON);
  const more = group.length - shown.length;
  return [
    "",
    ...(first?.because === undefined ? [] : wrap(`because ${safe(first.because)}:`, width)),
    ...shown.flatMap(({ id, wants, hole }) => [
      `  ${paint.strong(id)}  ${safe(wants)}`,
      `    ${paint.dim(safe(hole))}`,
    ]),
    ...(more > 0 ? [paint.dim(`  and ${more} more (--all shows them)`)] : []),
    `  fix: ${paint.strong(safe(first?.fix ?? ""))}`,
  ];
}

function controlLines(io: Io, { cases, working, broken }: SelftestReport["controls"]): string[] {
  const head = `Everyday use: ${working} of ${cases} work.`;
  if (broken.length === 0) return [io.paint.good(head), ""];
  return [
    io.paint.warn(head),
    ...broken.map(({ id, does, why }) => `  ${io.paint.strong(id)}  ${safe(does)}: ${safe(why)}`),
    "",
  ];
}
