// A real shell under strace starts only the programs that the analysis named, with the same arguments, for generated lines.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { realpathSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";

import { OpenClawError } from "../../core/error.ts";
import { analyze, type AnalysisContext } from "./analyze.ts";
import type { Pipeline } from "./analysis.ts";
import { commandLine } from "./differential.cases.ts";
import { openPolicyFixture } from "./fixture.cases.ts";
import { openTraceFixture, traceLines, type Started } from "./traced-shell.cases.ts";

const runs = Number(process.env["OPENCLAW_DIFFERENTIAL_RUNS"] ?? 150);
const seed = Number(process.env["OPENCLAW_DIFFERENTIAL_SEED"] ?? 20_260_201);
const noStrace = spawnSync("strace", ["-V"]).status === 0 ? false : "strace is not installed: apt-get install strace";

describe("analysis against a traced shell", { skip: noStrace }, () => {
  const fixture = openPolicyFixture();
  const traced = openTraceFixture(fixture.root);
  const context: AnalysisContext = {
    cwd: traced.folder,
    workspace: traced.folder,
    home: traced.home,
    path: traced.path,
  };
  after(() => fixture.close());

  it(`${runs} lines in bash, and in sh where both have the same syntax`, async (test) => {
    const lines = fc.sample(commandLine, { numRuns: runs, seed });
    const accepted: Pipeline[] = [];
    for (const line of lines) {
      const pipeline = await understood(line, context);
      if (pipeline !== undefined) accepted.push(pipeline);
    }
    let started = 0;
    for (const shell of ["/bin/bash", "/bin/sh"]) {
      const fit = shell === "/bin/bash" ? accepted : accepted.filter(({ command }) => isPosix(command));
      for (let at = 0; at < fit.length; at += 500) started += compare(fit.slice(at, at + 500), shell);
    }
    test.diagnostic(
      `${lines.length} lines: ${accepted.length} understood and traced (${started} programs started), ${lines.length - accepted.length} refused`,
    );
    assert.ok(
      accepted.length > runs / 8 && started > accepted.length,
      "too few programs ran for a meaningful comparison",
    );
  });

  function compare(batch: readonly Pipeline[], shell: string): number {
    const scratch = join(fixture.root, "scratch");
    const traces = traceLines(
      batch.map(({ command }) => command),
      shell,
      traced,
      scratch,
    );
    for (const [index, pipeline] of batch.entries()) check(pipeline, traces[index] ?? []);
    rmSync(scratch, { recursive: true });
    return traces.flat().length;
  }
});

/** Only lines that an allowlist could allow; others are rejected by the decision. */
async function understood(line: string, context: AnalysisContext): Promise<Pipeline | undefined> {
  try {
    const analysis = await analyze(line, context);
    return analysis.kind === "pipeline" && analysis.segments.every(({ concern }) => concern === undefined)
      ? analysis
      : undefined;
  } catch (error) {
    if (error instanceof OpenClawError) return undefined;
    throw error;
  }
}

/** dash supports neither $'…', ^ in sets, &> nor the keyword time. */
const isPosix = (line: string): boolean => !/\$'|\[\^|&>|\btime\b/.test(line);

function check({ command: line, segments, cwd }: Pipeline, started: readonly Started[]): void {
  const named = segments.flatMap(({ program, inner = [] }) => [program.real, ...inner.map(({ real }) => real)]);
  const plain = segments.filter(({ wrappers }) => wrappers.length === 0).map(({ argv }) => JSON.stringify(argv));
  const wrapped = segments.some(({ wrappers }) => wrappers.length > 0);
  for (const { path, argv } of started) {
    const real = realpathSync(resolve(cwd, path)); // the shell uses relative program paths as written
    assert.ok(
      named.includes(real),
      `${JSON.stringify(line)} started ${path}, but the analysis named ${named.join(", ")}`,
    );
    assert.ok(
      wrapped || plain.includes(JSON.stringify(argv)),
      `${JSON.stringify(line)} started ${JSON.stringify(argv)}, but the analysis read ${plain.join(" | ")}`,
    );
  }
}
