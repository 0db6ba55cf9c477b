// The file tools under attack: our own table, the cases of README.md and their controls.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openGround, outcomeOf, SECRET, type FileGround, type Outcome } from "../../src/tool/fs/fixture.cases.ts";
import { readCases, type CorpusCase } from "./corpus.ts";
import { fill, fsCases, layGround, pathMutators, type AttackCase } from "./fs.cases.ts";

const refusals = new Set(["fs.outside", "fs.link", "fs.protected", "fs.special-file"]);

function attack(name: string, cases: readonly AttackCase[]): void {
  describe(name, () => {
    let ground: FileGround;
    before(() => {
      ground = openGround();
      layGround(ground);
      execFileSync("mkfifo", [join(ground.ws, "pipe")]);
    });
    after(() => ground.close());
    for (const attempt of cases) {
      test(`${attempt.id} ${attempt.tool}: ${attempt.why}: ${attempt.expect}`, { timeout: 300_000 }, async () => {
        const args = fill(attempt.params, ground, "x".repeat(400_000_000));
        const outcome = await outcomeOf(ground.use(attempt.tool, args, { workspaceOnly: attempt.open !== true }));
        judge(attempt, outcome);
        assertUnharmed(ground, outcome);
      });
    }
  });
}

function judge({ expect }: AttackCase, { code, refused, said }: Outcome): void {
  if (expect === "allow") return assert.equal(code, "ok", said);
  if (expect === "deny") return assert.ok(refusals.has(code) && refused, `${code}: ${said}`);
  if (expect === "error") return assert.match(code, /^(?:fs|tool|edit)\.[a-z-]+$/, said);
  assert.doesNotMatch(said, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
}

/** The canary: nothing of the secret was said, nothing outside was made or changed, no odd name came to be. */
function assertUnharmed({ out, state, home, ws }: FileGround, { said }: Outcome): void {
  assert.ok(!said.includes(SECRET), said);
  assert.equal(readFileSync(join(out, "secret"), "utf8"), `${SECRET}\n`);
  assert.deepEqual(
    readdirSync(out).filter((name) => name !== "notes.md"),
    ["secret"],
  );
  assert.equal(readFileSync(join(state, "openclaw.json"), "utf8"), `{ gateway: { auth: { token: "${SECRET}" } } }\n`);
  assert.deepEqual(readdirSync(home).toSorted(), [".bashrc", ".openclaw"]);
  assert.deepEqual(
    globSync("**/{*,.*}", { cwd: ws }).filter((name) => /[\p{Cc}\u202a-\u202e]|\.tmp$/u.test(name)),
    [],
  );
}

attack("our own cases", fsCases);

const obeyedNames = /(?:^|\/)(?:\.git|\.envrc|\.mcp\.json|\.vscode|\.bashrc)(?:\/|$)/i;
test("mutants of every refused case do no harm either", { timeout: 900_000 }, async () => {
  const ground = openGround();
  after(() => ground.close());
  layGround(ground);
  execFileSync("mkfifo", [join(ground.ws, "pipe")]);
  const wanted = fsCases.filter(({ expect }) => expect === "deny");
  for (const attempt of wanted) {
    for (const [name, mutate] of Object.entries(pathMutators)) {
      const args = fill(attempt.params, ground, "");
      const mutant = { ...args, path: mutate(args["path"] ?? "") };
      const outcome = await outcomeOf(
        ground.use(attempt.tool, mutant, { workspaceOnly: attempt.open !== true || attempt.tool !== "read" }),
      );
      assertUnharmed(ground, outcome);
      const obeyed = readdirSync(ground.ws, { recursive: true, encoding: "utf8" }).filter((path) =>
        obeyedNames.test(path),
      );
      assert.deepEqual(obeyed, [], `${attempt.id} ${name}: ${mutant.path}`);
    }
  }
});

type FileCase = CorpusCase<{ readonly params: Readonly<Record<string, string>> }>;

function casesOf(table: "cases" | "controls", wanted: (attempt: FileCase) => boolean): AttackCase[] {
  return readCases<FileCase["input"]>(table)
    .filter(wanted)
    .map(({ id, tool, input, expect, claim }) => ({
      id,
      tool: tool as AttackCase["tool"],
      params: input.params,
      expect: expect as AttackCase["expect"],
      why: claim,
    }));
}

attack(
  "the cases of README.md",
  casesOf("cases", ({ area }) => area === "fs"),
);
attack(
  "the controls of README.md",
  casesOf("controls", ({ tool }) => ["read", "write", "edit"].includes(tool)),
);
