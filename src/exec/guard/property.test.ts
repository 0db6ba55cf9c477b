// Random programs with random spellings of the gateway's files, started in the guard without analyzing their arguments.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import fc from "fast-check";

import { noBubblewrap } from "../../../test/harness/sandbox.ts";
import { openTestEngine } from "../engine.cases.ts";
import { createGuard } from "../guard.ts";
import { attacks, CANARY, openAttackFixture, programOf, spellings, type AttackFixture } from "./attack.cases.ts";

const ROUNDS = Number(process.env["OPENCLAW_GUARD_ROUNDS"] ?? 20);
const TIMEOUT_MS = 20_000;
/** These work only as root, and only on some machines. */
const needsNamespaces = new Set(["unshare and umount", "umount", "nsenter"]);

describe("programs in the guard", { skip: noBubblewrap }, () => {
  const engine = openTestEngine();
  const guard = createGuard();
  let fixture: AttackFixture;
  before(async () => {
    fixture = await openAttackFixture();
  });
  after(async () => {
    await engine.close();
    guard.close();
    await fixture.close();
  });

  /** Undefined when this machine lacks the program. `open` is a fixture without the guard. */
  const run = async (words: readonly string[], open?: AttackFixture): Promise<string | undefined> => {
    const program = programOf(words[0] ?? "");
    if (program === undefined) return undefined;
    const { home, workspace: cwd } = open ?? fixture;
    const launch = {
      argv: [program, ...words.slice(1)],
      cwd,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home },
    };
    const running = await engine.start({
      pipeline: [{ launch: open === undefined ? await guard.wrap(launch, fixture.paths) : launch, input: "empty" }],
      timeoutMs: TIMEOUT_MS,
    });
    await running.ended;
    const output = running.output.tail(1_000_000);
    await running.output.discard();
    return output;
  };

  test("the same files are readable without the guard, so the attacks are real", async () => {
    for (const spelling of ["absolute", "dots", "ownFolder", "gatewayRoot", "upLink", "stateLink", "procLink"]) {
      const path = spellings[spelling]?.(fixture.targets[0] ?? "", fixture) ?? "";
      assert.ok((await run(["cat", path], fixture))?.includes(CANARY), spelling);
    }
    assert.deepEqual(fixture.harm(""), []);
  });

  test("the same programs do harm without the guard", async () => {
    const names = Object.keys(attacks).filter((name) => !needsNamespaces.has(name));
    for (const name of new Set(fc.sample(fc.constantFrom(...names), Math.ceil(ROUNDS / 10)))) {
      assert.ok(await doesHarm(name), name);
    }
  });

  /** At least one of these files is reachable: some programs only read, some only create, some move a whole folder. */
  const doesHarm = async (name: string): Promise<boolean> => {
    for (const file of ["openclaw.json", "exec-approvals.json", "cron", "credentials/whatsapp.json"]) {
      const open = await openAttackFixture();
      try {
        const output = await run(attacks[name]?.(join(open.state, file), open) ?? [], open);
        if (output === undefined || open.harm(output).length > 0) return true;
      } finally {
        await open.close();
      }
    }
    return false;
  };

  test("read, change, replace or create no file of the gateway", async () => {
    const one = fc.record({
      attack: fc.constantFrom(...Object.keys(attacks)),
      spelling: fc.constantFrom(...Object.keys(spellings)),
      target: fc.nat({ max: fixture.targets.length - 1 }),
    });
    await fc.assert(
      fc.asyncProperty(one, async ({ attack, spelling, target }) => {
        const path = spellings[spelling]?.(fixture.targets[target] ?? "", fixture) ?? "";
        const output = await run(attacks[attack]?.(path, fixture) ?? []);
        assert.deepEqual(fixture.harm(output ?? ""), []);
      }),
      { numRuns: ROUNDS, endOnFailure: true },
    );
  });

  test("replace no folder above the gateway's files", async () => {
    for (const target of fixture.targets) {
      const output = await run(attacks["python swap"]?.(target, fixture) ?? []);
      assert.deepEqual(fixture.harm(output ?? ""), [], target);
    }
  });

  test("leave the gateway's files alone, for every program of the list", async () => {
    const [config = "", approvals = ""] = [fixture.targets[0], fixture.targets[3]];
    for (const [name, words] of Object.entries(attacks)) {
      const path = spellings["dots"]?.(name.length % 2 === 0 ? config : approvals, fixture) ?? "";
      const output = await run(words(path, fixture));
      assert.deepEqual(fixture.harm(output ?? ""), [], name);
    }
  });
});
