// Help of every command, made by the program itself: a summary, a usage line, at least one example that parses.
import assert from "node:assert/strict";
import { test } from "node:test";

import { entries, groups } from "./commands/index.ts";
import { findCommand } from "./find.ts";
import { usageOf } from "./help.ts";
import { parseWords } from "./parse.ts";
import { main } from "./program.ts";
import type { Terminal } from "./io.ts";

async function run(words: readonly string[], isTerminal = false): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: "", err: "" };
  const stream = (name: "out" | "err") => ({
    isTerminal,
    columns: 90,
    write: (text: string) => void (printed[name] += text),
  });
  const terminal: Terminal = {
    env: { HOME: "/nowhere" },
    stdout: stream("out"),
    stderr: stream("err"),
    stdinIsTerminal: isTerminal,
  };
  return { code: await main(words, terminal), ...printed };
}

for (const { path, summary, load } of entries.map((entry) => ({ ...entry, load: () => entry.load() }))) {
  const name = path.join(" ");
  test(`openclaw ${name} --help`, async () => {
    const { command } = await load();
    const { code, out, err } = await run([...path, "--help"]);
    assert.deepEqual([code, err], [0, ""]);
    assert.ok(out.startsWith(`${summary}\n`), "the summary comes first");
    assert.ok(out.includes(`Usage: ${usageOf(path, command)}`));
    assert.ok(
      command.examples.length > 0 && command.examples.every(({ line }) => out.includes(`  openclaw ${line}\n`)),
      "examples",
    );
    assert.ok(
      Object.keys(command.options ?? {}).every((option) => out.includes(`--${option}`)),
      "options",
    );
    assert.match(summary, /^[A-Z].*[.)]\.?$/, "a sentence");
    const others = entries.filter((entry) => entry.summary === summary && !summary.includes("same as"));
    assert.ok(others.length <= 1, "declared once");
    for (const line of out.split("\n")) assert.ok(line.length <= 130, line);
  });

  test(`the examples of openclaw ${name} are commands we understand`, async () => {
    const { command } = await load();
    for (const { line } of command.examples) {
      const found = findCommand(wordsOf(line), { entries, groups });
      assert.equal(found.kind, "command", line);
      if (found.kind === "command") parseWords(found.words, (await found.entry.load()).command, found.entry.path);
    }
  });
}

test("every group has help that names its commands", async () => {
  for (const { path } of groups) {
    const { code, out } = await run([...path, "--help"]);
    assert.equal(code, 0);
    for (const entry of entries.filter((candidate) => path.every((word, at) => candidate.path[at] === word)))
      assert.match(out, new RegExp(`^  ${entry.path.slice(path.length).join(" ")} +\\S`, "m"));
  }
});

test("the table is sorted and has no command twice", () => {
  const names = entries.map(({ path }) => path.join(" "));
  assert.deepEqual(names, [...new Set(names)].toSorted());
});

test("colours on a terminal, none elsewhere or when not wanted", async () => {
  const hasColour = ({ out }: { out: string }): boolean => out.includes("\u001b[");
  assert.equal(hasColour(await run(["--help"], true)), true);
  assert.equal(hasColour(await run(["--help"], false)), false);
  assert.equal(hasColour(await run(["--help", "--no-color"], true)), false);
});

/** The words of an example up to the first thing only a shell understands. */
function wordsOf(line: string): string[] {
  const [first = ""] = line.split(/ (?:&&|\||<|>>?) /);
  return [...first.matchAll(/'([^']*)'|((?:\$\([^)]*\)|\S)+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}
