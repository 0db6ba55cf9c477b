// Safe bins run without an entry only in forms that read nothing but their input.
import assert from "node:assert/strict";
import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { decide, openPolicyFixture } from "./fixture.cases.ts";

const fixture = openPolicyFixture();
const { context } = fixture;
after(() => fixture.close());

const safeBins = ["cut", "uniq", "head", "tail", "tr", "wc", "sort", "grep", "jq"];

async function outcome(command: string, listed: readonly string[] = safeBins): Promise<string> {
  return (await decide(command, context, { safeBins: listed, allowlist: [] })).judgment.outcome;
}

const allowed = [
  "head -n 5",
  "head -n5",
  "head -5",
  "head -qn 5",
  "head --lines=5",
  "head --lines 5",
  "head -c 1K",
  "head -",
  "tail -n +5",
  "tail -n+5 -q",
  "wc -l",
  "wc",
  "wc --lines --words",
  "cut -d: -f1",
  "cut -d / -f 1,3-5",
  "cut --delimiter=, --fields=2",
  "uniq -c",
  "uniq -f 1 -s2",
  "tr a-z A-Z",
  "tr -d '\\n'",
  "tr / _",
  "sort -rn -k2,2 -t ,",
  "sort -u",
  "grep -i foo",
  "grep -e foo -e bar",
  "grep -c -- -x",
  "grep --max-count=3 foo",
  "jq .",
  "jq -r '.items[] | .name'",
  "jq -nc '1 + 1'",
  "jq -r '.a // \"none\"'",
  "LC_ALL=C sort",
  "nice head -n 1",
];
for (const command of allowed) it(`runs: ${command}`, async () => assert.equal(await outcome(command), "run"));

const refused = [
  "head a.ts",
  "head -n 5 a.ts",
  "head -n 5 -- a.ts",
  "head --line=5",
  "head --lin 5",
  "head -n x",
  "head -n",
  "head *.ts",
  "head ~",
  "head ~/x",
  "head --lines=5 --unknown",
  "tail -f",
  "tail -F",
  "tail -nf",
  "tail --follow",
  "tail --pid=1",
  "tail +5",
  "wc a.ts",
  "wc --files0-from=x",
  "wc --files0=x",
  "cut -f1 a.ts",
  "cut -d: -f1 -- a.ts",
  "uniq a b",
  "uniq - b",
  "sort a.ts",
  "sort -o x",
  "sort -ox",
  "sort -uo x",
  "sort -uox",
  "sort --output=x",
  "sort --outp=x",
  "sort -T .",
  "sort -T/tmp",
  "sort --compress-program=x",
  "sort --files0-from=x",
  "sort --random-source=x",
  "sort -R --random-s=x",
  "sort --parallel=2",
  "grep foo a.ts",
  "grep -e foo a.ts",
  "grep -f a.ts",
  "grep -ifa.ts",
  "grep -r foo",
  "grep -R foo",
  "grep -rn foo",
  "grep --recursive foo",
  "grep --recurs foo",
  "grep -d recurse foo",
  "grep --include=x foo",
  "grep --exclude-from=x foo",
  "grep /etc/passwd",
  "jq",
  "jq . a.json",
  "jq env",
  "jq -n env",
  "jq -n '$ENV'",
  "jq -n '$ENV.PATH'",
  "jq -n '[env]'",
  "jq -f x",
  "jq --from-file x",
  "jq -L . .",
  "jq --slurpfile a b .",
  "jq --rawfile a b .",
  "jq --argfile a b .",
  "jq -rf x",
  "jq 'import \"x\" as x; .'",
  "jq 'include \"x\"; .'",
  "jq input_filename",
  "jq --arg a b .",
  "jq '.a/.b'",
  "FOO=1 head",
  "rev",
];
for (const command of refused) it(`does not run: ${command}`, async () => assert.equal(await outcome(command), "deny"));

describe("never allows", () => {
  for (const command of ["awk 1", "sed -n p", "python3", "cat", "env", "sh", "xargs", "node"]) {
    it(`${command}, even when listed`, async () =>
      assert.equal(await outcome(command, [command.split(" ")[0] ?? ""]), "deny"));
  }

  it("a program of the same name in another folder", async () => {
    const copy = join(fixture.bin, "head");
    copyFileSync("/usr/bin/head", copy);
    chmodSync(copy, 0o755);
    assert.equal(await outcome(`${copy} -n 1`), "deny");
    const first = { ...context, path: [fixture.bin, ...context.path] };
    assert.equal((await decide("head -n 1", first, { safeBins })).judgment.outcome, "deny");
  });
});

it("gives the same answer whether or not a file exists", async () => {
  const answer = async (command: string): Promise<unknown> =>
    (await decide(command, context, { safeBins, allowlist: [] })).judgment;
  assert.deepEqual(await answer(`head ${fixture.out}/secret`), await answer("head /nonexistent"));
  assert.deepEqual(await answer(`python3 ${fixture.out}/secret`), await answer("python3 /nonexistent"));
});
