// Swaps between check and use: a racer process puts links in place while the tools work. No hit is allowed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { openFixture, outcomeOf, SECRET, type FileFixture, type Outcome } from "../../src/tool/fs/fixture.cases.ts";

// The full run is 10,000 rounds; every push takes a part of it.
const rounds = Number(process.env["OPENCLAW_RACE_ROUNDS"] ?? 100);
const skip = process.platform !== "linux" && "without directory handles the swap is only made unlikely";

interface Race {
  readonly kind: "file" | "hard" | "folder" | "making";
  prepare(fixture: FileFixture): void;
  /** One round; all that the caller gets to see. */
  attempt(fixture: FileFixture, round: number): Promise<Outcome>;
  /** What must have been seen for the race to have been one. */
  readonly mixture: readonly RegExp[];
}

const putSwapFile = ({ ws }: FileFixture): void => writeFileSync(join(ws, "swap-me"), "inside\n");
const putRaceFolder = ({ ws }: FileFixture): unknown => mkdirSync(join(ws, "race", "dir"), { recursive: true });
const patchOf = (body: string): { input: string } => ({ input: `*** Begin Patch\n${body}\n*** End Patch` });

/** What a patch made of a swapped file is part of what the caller gets to see. */
async function patchAndLook(fixture: FileFixture, body: string, made: string): Promise<Outcome> {
  const outcome = await outcomeOf(fixture.use("apply_patch", patchOf(body)));
  const path = join(fixture.ws, made);
  if (!existsSync(path)) return outcome;
  const content = readFileSync(path, "utf8");
  rmSync(path);
  return { ...outcome, output: outcome.output + content };
}

const races: Record<string, Race> = {
  "read of a file swapped for a link": {
    kind: "file",
    prepare: ({ ws }) => writeFileSync(join(ws, "swap-me"), "inside\n"),
    attempt: (fixture) => outcomeOf(fixture.use("read", { path: "swap-me" })),
    mixture: [/^ok$/, /^fs\.link$/],
  },
  "write of a file swapped for a link": {
    kind: "file",
    prepare: ({ ws }) => writeFileSync(join(ws, "swap-me"), "inside\n"),
    attempt: (fixture, round) => outcomeOf(fixture.use("write", { path: "swap-me", content: `round ${round}\n` })),
    mixture: [/^ok$/, /^fs\.link$/],
  },
  "edit of a file swapped for a link": {
    kind: "file",
    prepare: ({ ws }) => writeFileSync(join(ws, "swap-me"), "inside\n"),
    attempt: (fixture, round) =>
      outcomeOf(fixture.use("edit", { path: "swap-me", oldText: "inside", newText: `round ${round}` })),
    mixture: [/^fs\.link$/],
  },
  "write below a folder swapped for a link": {
    kind: "folder",
    prepare: ({ ws }) => mkdirSync(join(ws, "race", "dir"), { recursive: true }),
    attempt: (fixture, round) =>
      outcomeOf(fixture.use("write", { path: "race/dir/file", content: `round ${round}\n` })),
    mixture: [/^(?:ok|fs\.changed)$/, /^fs\.link$/],
  },
  "new folders below a folder swapped for a link": {
    kind: "folder",
    prepare: ({ ws }) => mkdirSync(join(ws, "race", "dir"), { recursive: true }),
    attempt: (fixture, round) => outcomeOf(fixture.use("write", { path: `race/dir/new-${round}/file`, content: "x" })),
    mixture: [/^(?:ok|fs\.changed)$/, /^fs\.link$/],
  },
  "write below a folder that is being made": {
    kind: "making",
    prepare: ({ ws }) => mkdirSync(join(ws, "made")),
    attempt: (fixture, round) => outcomeOf(fixture.use("write", { path: `made/file-${round % 3}`, content: "x" })),
    mixture: [/^fs\./],
  },
  "read of a file swapped for a second name": {
    kind: "hard",
    prepare: putSwapFile,
    attempt: (fixture) => outcomeOf(fixture.use("read", { path: "swap-me" })),
    mixture: [/^ok$/, /^fs\.link$/],
  },
  "write of a file swapped for a second name": {
    kind: "hard",
    prepare: putSwapFile,
    attempt: (fixture, round) => outcomeOf(fixture.use("write", { path: "swap-me", content: `round ${round}\n` })),
    mixture: [/^ok$/, /^fs\.link$/],
  },
  "edit of a file swapped for a second name": {
    kind: "hard",
    prepare: putSwapFile,
    attempt: (fixture, round) =>
      outcomeOf(fixture.use("edit", { path: "swap-me", oldText: "inside", newText: `round ${round}` })),
    mixture: [/^fs\.link$/],
  },
  "patch of a file swapped for a link": {
    kind: "file",
    prepare: putSwapFile,
    attempt: (fixture, round) =>
      outcomeOf(fixture.use("apply_patch", patchOf(`*** Update File: swap-me\n@@\n-inside\n+round ${round}`))),
    mixture: [/^fs\.link$/],
  },
  "patch of a file swapped for a second name": {
    kind: "hard",
    prepare: putSwapFile,
    attempt: (fixture, round) =>
      outcomeOf(fixture.use("apply_patch", patchOf(`*** Update File: swap-me\n@@\n-inside\n+round ${round}`))),
    mixture: [/^fs\.link$/],
  },
  "patch that moves a file swapped for a link": {
    kind: "file",
    prepare: putSwapFile,
    attempt: (fixture) => patchAndLook(fixture, "*** Update File: swap-me\n*** Move to: moved", "moved"),
    mixture: [/^fs\.link$/],
  },
  "patch that moves a file swapped for a second name": {
    kind: "hard",
    prepare: putSwapFile,
    attempt: (fixture) => patchAndLook(fixture, "*** Update File: swap-me\n*** Move to: moved", "moved"),
    mixture: [/^fs\.link$/],
  },
  "patch that deletes a file swapped for a link": {
    kind: "file",
    prepare: putSwapFile,
    attempt: (fixture) => outcomeOf(fixture.use("apply_patch", patchOf("*** Delete File: swap-me"))),
    mixture: [/^fs\.link$/],
  },
  "patch below a folder swapped for a link": {
    kind: "folder",
    prepare: putRaceFolder,
    attempt: (fixture, round) =>
      outcomeOf(
        fixture.use(
          "apply_patch",
          patchOf(`*** Add File: race/dir/a-${round}\n+x\n*** Add File: race/dir/n-${round}/b\n+x`),
        ),
      ),
    mixture: [/^(?:ok|fs\.changed|fs\.not-found)$/, /^fs\.link$/],
  },
  "patch below a folder that is being made": {
    kind: "making",
    prepare: ({ ws }) => mkdirSync(join(ws, "made")),
    attempt: (fixture, round) => outcomeOf(fixture.use("apply_patch", patchOf(`*** Add File: made/file-${round}\n+x`))),
    mixture: [/^fs\./],
  },
};

for (const [name, race] of Object.entries(races)) {
  test(`${name}: ${rounds} rounds`, { skip, timeout: 600_000 }, (context) => run(context, race));
}

async function run(context: TestContext, race: Race): Promise<void> {
  const fixture = openFixture();
  race.prepare(fixture);
  const racer = spawn(
    process.execPath,
    [join(import.meta.dirname, "fs-racer.ts"), race.kind, fixture.ws, fixture.out],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  context.after(async () => {
    if (racer.exitCode === null && racer.signalCode === null) {
      racer.kill("SIGKILL");
      await once(racer, "exit");
    }
    fixture.close();
  });
  await once(racer.stdout, "data");
  const seen = new Map<string, number>();
  let [hits, round] = [0, 0];
  const sawAll = (): boolean => race.mixture.every((wanted) => [...seen.keys()].some((code) => wanted.test(code)));
  // On a busy machine the racer may sleep through the first rounds: it goes on until all has been seen.
  for (; round < rounds || (round < rounds * 25 && !sawAll()); round += 1) {
    const { code, output } = await race.attempt(fixture, round);
    seen.set(code, (seen.get(code) ?? 0) + 1);
    if (output.includes(SECRET) || readdirSync(fixture.out).length !== 1) hits += 1;
  }
  assert.equal(racer.exitCode, null, "the racer ran to the end");
  assert.equal(readFileSync(join(fixture.out, "secret"), "utf8"), `${SECRET}\n`);
  context.diagnostic(
    `${round} rounds, ${hits} hits; ${[...seen].map(([code, count]) => `${code} ${count}`).join(", ")}`,
  );
  assert.equal(hits, 0);
  for (const wanted of race.mixture)
    assert.ok(
      [...seen.keys()].some((code) => wanted.test(code)),
      `never saw ${wanted}: that was no race`,
    );
}
