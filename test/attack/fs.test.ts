// The file tools under attack: our own table, the cases of README.md and their controls.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openFixture, outcomeOf, SECRET, type FileFixture, type Outcome } from "../../src/tool/fs/fixture.cases.ts";
import { readCases, type CorpusCase } from "./corpus.ts";
import { fill, fsCases, layFiles, pathMutators, type AttackCase } from "./fs.cases.ts";

const refusals = new Set(["fs.outside", "fs.link", "fs.protected", "fs.special-file"]);

function attack(name: string, cases: readonly AttackCase[]): void {
  describe(name, () => {
    let fixture: FileFixture;
    before(() => {
      fixture = openFixture();
      layFiles(fixture);
      execFileSync("mkfifo", [join(fixture.ws, "pipe")]);
    });
    after(() => fixture.close());
    for (const attempt of cases) {
      test(`${attempt.id} ${attempt.tool}: ${attempt.why}: ${attempt.expect}`, { timeout: 300_000 }, async () => {
        const args = fill(attempt.params, fixture, "x".repeat(400_000_000));
        const outcome = await outcomeOf(fixture.use(attempt.tool, args, { workspaceOnly: attempt.open !== true }));
        judge(attempt, outcome);
        assertUnharmed(fixture, outcome);
      });
    }
  });
}

function judge({ expect }: AttackCase, { code, refused, output }: Outcome): void {
  if (expect === "allow") return assert.equal(code, "ok", output);
  if (expect === "deny") return assert.ok(refusals.has(code) && refused, `${code}: ${output}`);
  if (expect === "error") return assert.match(code, /^(?:fs|tool|edit)\.[a-z-]+$/, output);
  assert.doesNotMatch(output, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
}

/** The canary: nothing of the secret was output, nothing outside was made or changed, no odd name came to be. */
function assertUnharmed({ out, state, home, ws }: FileFixture, { output }: Outcome): void {
  assert.ok(!output.includes(SECRET), output);
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
test("mutations of every refused case cause no harm", { timeout: 900_000 }, async () => {
  const fixture = openFixture();
  after(() => fixture.close());
  layFiles(fixture);
  execFileSync("mkfifo", [join(fixture.ws, "pipe")]);
  const wanted = fsCases.filter(({ expect }) => expect === "deny");
  for (const attempt of wanted) {
    for (const [name, mutate] of Object.entries(pathMutators)) {
      const args = fill(attempt.params, fixture, "");
      const mutant = { ...args, path: mutate(args["path"] ?? "") };
      const outcome = await outcomeOf(
        fixture.use(attempt.tool, mutant, { workspaceOnly: attempt.open !== true || attempt.tool !== "read" }),
      );
      assertUnharmed(fixture, outcome);
      const obeyed = readdirSync(fixture.ws, { recursive: true, encoding: "utf8" }).filter((path) =>
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
