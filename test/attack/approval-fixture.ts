// Fixture for races around an approval: a folder, a real engine, plans frozen from command lines.
import assert from "node:assert/strict";
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { OpenClawError } from "../../src/core/error.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { Log } from "../../src/base/log.ts";
import { analyze, type AnalysisContext } from "../../src/exec/policy/analyze.ts";
import { makePlan } from "../../src/exec/policy/freeze.ts";
import type { Plan } from "../../src/exec/policy/plan.ts";
import { startPinned, type StartDeps } from "../../src/exec/start-plan.ts";
import { createStartRun } from "../../src/exec/start-run.ts";

export interface Fixture {
  readonly folder: string;
  readonly deps: StartDeps;
  /** Made by nothing but what was not allowed. */
  readonly canary: string;
  plan(command: string, cwd?: string): Promise<Plan>;
}

export async function openFixture(test: TestContext, dirs: readonly string[] = []): Promise<Fixture> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "approval-race-")));
  const at = (name: string): string => join(folder, name);
  for (const name of ["good-place", "bad-place", "home"]) mkdirSync(at(name));
  copyFileSync("/usr/bin/true", at("good"));
  copyFileSync("/usr/bin/touch", at("evil"));
  linkSync(at("good"), at("tool"));
  symlinkSync(at("good-place"), at("place"));
  const quiet = (): void => undefined;
  const log = { child: () => log, error: quiet, warn: quiet, info: quiet, debug: quiet } as Log;
  const engine = createStartRun({ folder: at("runs"), clock: systemClock, log });
  test.after(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    canary: at("canary"),
    deps: { start: engine.start, env: process.env, stateDir: at("state") },
    async plan(command, cwd = folder) {
      const context: AnalysisContext = {
        cwd,
        workspace: folder,
        home: at("home"),
        path: [...dirs, "/usr/bin", "/bin"],
      };
      const analysis = await analyze(command, context);
      return makePlan({
        analysis,
        context,
        env: {},
        shell: "/bin/sh",
        host: "gateway",
        agent: "main",
        session: "agent:main:main",
      });
    },
  };
}

/** `ran`, or the code of the refusal; with what it wrote. */
export async function attempt({ deps }: Fixture, plan: Plan, tty = false): Promise<{ code: string; output: string }> {
  try {
    const running = await startPinned(deps, plan, { tty, hasInput: tty });
    const { code } = await running.ended;
    return { code: "ran", output: `${running.output.tail(4000)}[${code}]` };
  } catch (error) {
    assert.ok(error instanceof OpenClawError, String(error));
    return { code: error.code, output: "" };
  }
}
