// Scripts swapped between a person's yes and the moment their interpreter has read them: only what was allowed runs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";

import type { Plan } from "../../src/exec/policy/plan.ts";
import { attempt, openFixture, type Fixture } from "./approval-fixture.ts";

// The full run is 10,000 rounds; every push takes a part of it.
const rounds = Number(process.env["OPENCLAW_RACE_ROUNDS"] ?? 15);
const skip = process.platform !== "linux" && "without /proc what was compared cannot be held";
const node = dirname(process.execPath);
const hasPython = existsSync("/usr/bin/python3");

/** Long enough that a shell reads it in several goes; the two differ at the end only. */
const shell = (last: string): string => `#!/bin/sh\nx=1\n${"# nothing to see here\n".repeat(600)}${last}\n`;
const written: Readonly<Record<string, (text: string, harm: string) => string>> = {
  "run.sh": (text, harm) => shell(text === "good" ? "echo good" : `echo evil > ${harm}`),
  tool: (text, harm) => shell(text === "good" ? "echo good" : `echo evil > ${harm}`),
  "run.py": (text, harm) => (text === "good" ? `print("good")\n` : `open(${JSON.stringify(harm)}, "w").close()\n`),
  "run.mjs": (text, harm) =>
    `import { writeFileSync } from "node:fs";\n${text === "good" ? `console.log("good")` : `writeFileSync(${JSON.stringify(harm)}, "")`};\n`,
};

/** How each is started. */
const commands = ["sh run.sh", "./tool", ...(hasPython ? ["python3 run.py"] : []), "node run.mjs", "bash work/run.sh"];

async function lay(context: TestContext): Promise<{ fixture: Fixture; plans: Plan[] }> {
  const fixture = await openFixture(context, [node]);
  const at = (name: string): string => join(fixture.folder, name);
  for (const kind of ["good", "evil"]) {
    mkdirSync(at(`scripts.${kind}`));
    for (const [name, text] of Object.entries(written)) {
      writeFileSync(at(`scripts.${kind}/${name}`), text(kind, fixture.canary));
      chmodSync(at(`scripts.${kind}/${name}`), 0o755);
    }
  }
  cpSync(at("scripts.good"), at("work"), { recursive: true });
  cpSync(at("scripts.evil"), at("work.evil"), { recursive: true });
  for (const name of Object.keys(written)) linkSync(at(`work/${name}`), at(`work/${name}.second`));
  return { fixture, plans: [] };
}

/** A file that another one takes the place of is another file: what was linked must be what was asked about. */
function linkGood({ folder }: Fixture): void {
  for (const name of Object.keys(written)) {
    rmSync(join(folder, "work", name));
    linkSync(join(folder, "scripts.good", name), join(folder, "work", name));
  }
}

const kinds: Readonly<Record<string, string>> = {
  "script-rename": "another file renamed over them",
  "script-symlink": "a link put in their place",
  "script-hard-link": "another file linked in their place",
  "script-rewrite": "written over in place, by their own and by a second name",
  "script-parent": "the folder above them swapped",
};

for (const [kind, what] of Object.entries(kinds)) {
  test(`scripts, ${what}: ${rounds} rounds`, { skip, timeout: 3_600_000 }, async (context) => {
    const { fixture, plans } = await lay(context);
    if (kind !== "script-rewrite" && kind !== "script-parent") linkGood(fixture);
    for (const command of commands) {
      const cwd = command.includes("work/") ? fixture.folder : join(fixture.folder, "work");
      plans.push(await fixture.plan(command, cwd));
    }
    const racer = spawn(process.execPath, [join(import.meta.dirname, "approval-racer.ts"), kind, fixture.folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const seen = new Map<string, number>();
    const isRace = (): boolean => ["ran", "approval.changed"].every((code) => seen.has(code));
    let [escapes, done] = [0, 0];
    try {
      await once(racer.stdout, "data");
      // On a busy machine one side may sleep through the first rounds: it goes on until both had their turn.
      for (; done < rounds || (done < rounds * 25 && !isRace()); done += 1) {
        const plan = plans[done % plans.length];
        assert.ok(plan !== undefined);
        const { code, output } = await attempt(fixture, plan);
        seen.set(code, (seen.get(code) ?? 0) + 1);
        if (!existsSync(fixture.canary) && (code !== "ran" || output === "good\n[0]")) continue;
        escapes += 1;
        context.diagnostic(`escaped: ${plan.command} ${output.slice(0, 400)}`);
        rmSync(fixture.canary, { force: true });
      }
      assert.equal(racer.exitCode, null, "the racer ran to the end");
    } finally {
      racer.kill("SIGKILL");
    }
    const outcomes = [...seen].map(([code, count]) => `${code} ${count}`).join(", ");
    context.diagnostic(`${escapes} escapes in ${done} rounds; ${outcomes}`);
    assert.equal(escapes, 0);
    assert.ok(isRace(), `only ${outcomes}: that was no race`);
  });
}
