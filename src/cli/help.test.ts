// The help of every command: a summary, a usage line, and at least one example that parses.
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

  test(`openclaw ${name}: every example is a valid command`, async () => {
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

test("the options of a group are options of each of its commands", async () => {
  for (const { path, options } of groups) {
    if (options === undefined) continue;
    for (const entry of entries.filter((candidate) => path.every((word, at) => candidate.path[at] === word))) {
      const { command } = await entry.load();
      // A command without options needs no gateway.
      if (command.options === undefined) continue;
      for (const [name, type] of Object.entries(options))
        assert.equal(command.options[name]?.type, type, `${entry.path.join(" ")} --${name}`);
    }
  }
});

test("the command table is sorted and has no duplicates", () => {
  const names = entries.map(({ path }) => path.join(" "));
  assert.deepEqual(names, [...new Set(names)].toSorted());
});

test("prints colors on a terminal only, and not with --no-color", async () => {
  const hasColor = ({ out }: { out: string }): boolean => out.includes("\u001b[");
  assert.equal(hasColor(await run(["--help"], true)), true);
  assert.equal(hasColor(await run(["--help"], false)), false);
  assert.equal(hasColor(await run(["--help", "--no-color"], true)), false);
});

/** The arguments of an example up to the first shell operator. */
function wordsOf(line: string): string[] {
  const [first = ""] = line.split(/ (?:&&|\||<|>>?) /);
  return [...first.matchAll(/'([^']*)'|((?:\$\([^)]*\)|\S)+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}
