// A log file on a full disk: complete lines only, and missing ones are counted.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;
const skip = hasPrlimit ? false : "needs prlimit to make a file full";

/** Logs 200 lines, reports that, waits for a line on its input, logs one more. */
const script = (file: string): string => `
  const { openLog } = await import(${JSON.stringify(new URL("log.ts", import.meta.url).href)});
  const { createMask } = await import(${JSON.stringify(new URL("mask.ts", import.meta.url).href)});
  const log = openLog({ file: ${JSON.stringify(file)}, level: "info", consoleLevel: "silent", consoleStyle: "json", mask: createMask() });
  for (let index = 0; index < 200; index += 1) log.info("line " + index + " " + "ü".repeat(index % 37), { index });
  console.log("dropped " + log.dropped());
  process.stdin.once("data", () => { log.info("there is room again"); log.close(); process.exit(0); });
`;

test("writes complete lines or none while the disk is full, and records how many are missing", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-log-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "full.log");
  const child = spawn(
    "prlimit",
    ["--fsize=10001:unlimited", process.execPath, "--input-type=module", "-e", script(file)],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const dropped = Number(/^dropped (\d+)$/.exec(String(value))?.[1]);
  const linesOf = (): Record<string, unknown>[] =>
    readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.ok(dropped > 0 && linesOf().length === 200 - dropped, `${dropped} dropped, ${linesOf().length} written`);
  execFileSync("prlimit", ["--pid", String(child.pid), "--fsize=unlimited"]);
  child.stdin.end("go\n");
  await new Promise((resolve) => child.once("exit", resolve));
  const [notice, last] = linesOf().slice(-2);
  assert.match(String(notice?.["message"]), new RegExp(`^${dropped} log lines before this one could not be written$`));
  assert.equal(last?.["message"], "there is room again");
});
