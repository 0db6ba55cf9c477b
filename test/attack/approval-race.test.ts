// Swaps between a person's yes and the start: what was not allowed never runs, however fast it is put in place.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { startPinned } from "../../src/exec/start-plan.ts";
import { attempt, openFixture, type Fixture } from "./approval-fixture.ts";

// The full run is 10,000 rounds; every push takes a part of it.
const rounds = Number(process.env["OPENCLAW_RACE_ROUNDS"] ?? 60);
const skip = process.platform !== "linux" && "without /proc what was compared cannot be held";

const races: Record<
  string,
  { kind: string; command: (fixture: Fixture) => string; cwd?: string; harm: (fixture: Fixture) => string }
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
    const fixture = await openFixture(context);
    const cwd = race.cwd === undefined ? fixture.folder : join(fixture.folder, race.cwd);
    const plan = await fixture.plan(race.command(fixture), cwd);
    const racer = spawn(process.execPath, [join(import.meta.dirname, "approval-racer.ts"), race.kind, fixture.folder], {
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
        const { code } = await attempt(fixture, plan);
        seen.set(code, (seen.get(code) ?? 0) + 1);
        if (!existsSync(race.harm(fixture))) continue;
        hits += 1;
        rmSync(race.harm(fixture), { force: true });
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

test(
  "refuses to start when a program, its folder or a script was swapped after approval",
  { skip },
  async (context) => {
    const fixture = await openFixture(context);
    const { folder, canary } = fixture;
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
        const plan = await fixture.plan(command, cwd);
        swap();
        assert.equal((await attempt(fixture, plan)).code, "approval.changed", command);
        assert.equal(existsSync(canary), false, command);
      }
    }
  },
);

test(
  "an approved program runs under its own name, in its own folder, and leaves no files behind",
  { skip },
  async (context) => {
    const fixture = await openFixture(context);
    copyFileSync("/usr/bin/cat", join(fixture.folder, "tool-of-mine"));
    const plan = await fixture.plan(
      `${fixture.folder}/tool-of-mine /proc/self/comm /proc/self/cmdline`,
      join(fixture.folder, "place"),
    );
    const running = await startPinned(fixture.deps, plan, { tty: false, hasInput: false });
    await running.ended;
    assert.equal(running.output.tail(1000).split("\u2400")[0], `tool-of-mine\n${fixture.folder}/tool-of-mine`);
    const where = await startPinned(fixture.deps, await fixture.plan("pwd", join(fixture.folder, "place")), {
      tty: false,
      hasInput: false,
    });
    await where.ended;
    assert.equal(where.output.tail(1000).trim(), join(fixture.folder, "good-place"));
    assert.deepEqual(readdirSync(join(fixture.folder, "state", "pins")), []);
  },
);
