// Swaps between a person's yes and the start: what was not allowed never runs, however fast it is put in place.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { HouseError } from "../../src/core/error.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { Log } from "../../src/base/log.ts";
import { analyse, type Place } from "../../src/exec/approval/analyse.ts";
import { makePlan } from "../../src/exec/approval/freeze.ts";
import type { Plan } from "../../src/exec/approval/plan.ts";
import { startPinned, type StartDeps } from "../../src/exec/start-plan.ts";
import { createStartRun } from "../../src/exec/start-run.ts";

// The full run is 10,000 rounds; every push takes a part of it.
const rounds = Number(process.env["OPENCLAW_RACE_ROUNDS"] ?? 200);
const skip = process.platform !== "linux" && "without /proc what was compared cannot be held";

interface Ground {
  readonly folder: string;
  readonly deps: StartDeps;
  /** Made by nothing but what was not allowed. */
  readonly canary: string;
  plan(command: string, cwd?: string): Promise<Plan>;
}

async function openGround(context: TestContext): Promise<Ground> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "approval-race-")));
  const at = (name: string): string => join(folder, name);
  for (const name of ["good-place", "bad-place", "home"]) mkdirSync(at(name));
  copyFileSync("/usr/bin/true", at("good"));
  copyFileSync("/usr/bin/touch", at("evil"));
  linkSync(at("good"), at("tool"));
  symlinkSync(at("good-place"), at("place"));
  const quiet = (): void => undefined;
  const log = { child: () => log, error: quiet, warn: quiet, info: quiet, debug: quiet } as unknown as Log;
  const engine = createStartRun({ folder: at("runs"), clock: systemClock, log });
  context.after(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    canary: at("canary"),
    deps: { start: engine.start, env: process.env, stateDir: at("state") },
    async plan(command, cwd = folder) {
      const place: Place = { cwd, workspace: folder, home: at("home"), path: ["/usr/bin", "/bin"] };
      const analysis = await analyse(command, place);
      return makePlan({
        analysis,
        place,
        env: {},
        shell: "/bin/sh",
        host: "gateway",
        agent: "main",
        session: "agent:main:main",
      });
    },
  };
}

/** `ran`, or the code of the refusal. */
async function attempt({ deps }: Ground, plan: Plan): Promise<string> {
  try {
    const running = await startPinned(deps, plan, { tty: false });
    await running.ended;
    return "ran";
  } catch (error) {
    assert.ok(error instanceof HouseError, String(error));
    return error.code;
  }
}

const races: Record<
  string,
  { kind: string; command: (ground: Ground) => string; cwd?: string; harm: (ground: Ground) => string }
> = {
  "a program swapped for another by its name": {
    kind: "program",
    command: ({ folder, canary }) => `${folder}/tool ${canary}`,
    harm: ({ canary }) => canary,
  },
  "a program swapped for a link to another": {
    kind: "link",
    command: ({ folder, canary }) => `${folder}/tool ${canary}`,
    harm: ({ canary }) => canary,
  },
  "a folder swapped by its link": {
    kind: "folder",
    command: () => "touch made-here",
    cwd: "place",
    harm: ({ folder }) => join(folder, "bad-place", "made-here"),
  },
};

for (const [name, race] of Object.entries(races)) {
  test(`${name}: ${rounds} rounds`, { skip, timeout: 1_200_000 }, async (context) => {
    const ground = await openGround(context);
    const cwd = race.cwd === undefined ? ground.folder : join(ground.folder, race.cwd);
    const plan = await ground.plan(race.command(ground), cwd);
    const racer = spawn(process.execPath, [join(import.meta.dirname, "approval-racer.ts"), race.kind, ground.folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const seen = new Map<string, number>();
    const wanted = ["ran", "approval.changed"];
    let [hits, done] = [0, 0];
    try {
      await once(racer.stdout, "data");
      // On a busy machine the racer may sleep through the first rounds: it goes on until both sides had their turn.
      const isRace = (): boolean => wanted.every((code) => seen.has(code));
      for (done = 0; done < rounds || (done < rounds * 25 && !isRace()); done += 1) {
        const code = await attempt(ground, plan);
        seen.set(code, (seen.get(code) ?? 0) + 1);
        if (!existsSync(race.harm(ground))) continue;
        hits += 1;
        rmSync(race.harm(ground), { force: true });
      }
      assert.equal(racer.exitCode, null, "the racer ran to the end");
    } finally {
      racer.kill("SIGKILL");
    }
    context.diagnostic(
      `${done} rounds, ${hits} hits; ${[...seen].map(([code, count]) => `${code} ${count}`).join(", ")}`,
    );
    assert.equal(hits, 0);
    for (const code of wanted) assert.ok(seen.has(code), `never saw ${code}: that was no race`);
  });
}

test("a program, its folder or a script swapped before the start is refused, every time", { skip }, async (context) => {
  const ground = await openGround(context);
  const { folder, canary } = ground;
  const at = (name: string): string => join(folder, name);
  const put = (make: () => void, name: string): void => {
    // Renaming one name of a file over another name of it does nothing.
    rmSync(at("next"), { force: true });
    make();
    renameSync(at("next"), at(name));
  };
  const scripts = { good: "exit 0\n", evil: `: > ${canary}\n` };
  const swaps: readonly (readonly [string, string | undefined, () => void, () => void])[] = [
    [
      `${folder}/tool ${canary}`,
      undefined,
      () => put(() => linkSync(at("good"), at("next")), "tool"),
      () => put(() => linkSync(at("evil"), at("next")), "tool"),
    ],
    [
      `${folder}/tool ${canary}`,
      undefined,
      () => put(() => linkSync(at("good"), at("next")), "tool"),
      () => put(() => symlinkSync(at("evil"), at("next")), "tool"),
    ],
    [
      `touch ${canary}`,
      at("place"),
      () => put(() => symlinkSync(at("good-place"), at("next")), "place"),
      () => put(() => symlinkSync(at("bad-place"), at("next")), "place"),
    ],
    [
      "bash run.sh",
      undefined,
      () => writeFileSync(at("run.sh"), scripts.good),
      () => writeFileSync(at("run.sh"), scripts.evil),
    ],
    [
      "bash run.sh",
      undefined,
      () => writeFileSync(at("run.sh"), scripts.good),
      () => put(() => writeFileSync(at("next"), scripts.evil), "run.sh"),
    ],
    [
      "sh ./run.sh && true",
      undefined,
      () => writeFileSync(at("run.sh"), scripts.good),
      () => writeFileSync(at("run.sh"), scripts.evil),
    ],
  ];
  for (let round = 0; round < Math.ceil(rounds / 20); round += 1) {
    for (const [command, cwd, lay, swap] of swaps) {
      lay();
      const plan = await ground.plan(command, cwd);
      swap();
      assert.equal(await attempt(ground, plan), "approval.changed", command);
      assert.equal(existsSync(canary), false, command);
    }
  }
});

test("what is held runs under its own name, in its own folder, with nothing left behind", { skip }, async (context) => {
  const ground = await openGround(context);
  copyFileSync("/usr/bin/cat", join(ground.folder, "tool-of-mine"));
  const plan = await ground.plan(
    `${ground.folder}/tool-of-mine /proc/self/comm /proc/self/cmdline`,
    join(ground.folder, "place"),
  );
  const running = await startPinned(ground.deps, plan, { tty: false });
  await running.ended;
  assert.equal(running.output.tail(1000).split("\u2400")[0], `tool-of-mine\n${ground.folder}/tool-of-mine`);
  const where = await startPinned(ground.deps, await ground.plan("pwd", join(ground.folder, "place")), { tty: false });
  await where.ended;
  assert.equal(where.output.tail(1000).trim(), join(ground.folder, "good-place"));
  assert.deepEqual(readdirSync(join(ground.folder, "state", "pins")), []);
});
