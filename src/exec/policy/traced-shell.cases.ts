// Traces a real shell while it runs command lines and returns the programs that it starts, with their arguments.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TraceFixture {
  readonly folder: string;
  readonly bin: string;
  readonly home: string;
  readonly path: readonly string[];
}

/** Programs without effect, and files that wildcards match. */
export function openTraceFixture(root: string): TraceFixture {
  const [folder, bin, home] = ["fixture", "fixture-bin", "fixture-home"].map((one) => join(root, one)) as [
    string,
    string,
    string,
  ];
  for (const one of [folder, bin, home, join(folder, "sub")]) mkdirSync(one, { recursive: true });
  const nothing = [
    join(bin, "p1"),
    join(bin, "p2"),
    join(bin, "p3"),
    join(bin, "p9"),
    join(folder, "p4"),
    join(folder, "sub/p5"),
    join(home, "p6"),
  ];
  for (const path of nothing) {
    copyFileSync("/usr/bin/true", path);
    chmodSync(path, 0o755);
  }
  for (const file of ["a.txt", "b.txt", "c.txt", ".hidden", "sub/x", "script"]) writeFileSync(join(folder, file), "");
  writeFileSync(join(folder, "script"), "p9\n");
  return { folder, bin, home, path: [bin, "/usr/bin", "/bin"] };
}

export interface Started {
  readonly path: string;
  readonly argv: readonly string[];
}

/** Runs the lines one after another in `shell` under strace and returns the programs that each line started. */
export function traceLines(
  lines: readonly string[],
  shell: string,
  fixture: TraceFixture,
  scratch: string,
): readonly (readonly Started[])[] {
  mkdirSync(scratch, { recursive: true });
  const [input, driver, output] = ["lines.json", "driver.mjs", "trace"].map((one) => join(scratch, one)) as [
    string,
    string,
    string,
  ];
  writeFileSync(input, JSON.stringify(lines));
  writeFileSync(
    driver,
    `import { spawnSync } from "node:child_process"; import { readFileSync } from "node:fs";
const env = { PATH: ${JSON.stringify(fixture.path.join(":"))}, HOME: ${JSON.stringify(fixture.home)}, LC_ALL: "C.UTF-8" };
for (const [i, line] of JSON.parse(readFileSync(process.argv[2], "utf8")).entries())
  spawnSync(process.argv[3], ["-c", line], { cwd: ${JSON.stringify(fixture.folder)}, env, argv0: "line-" + i, timeout: 10000, stdio: ["pipe", "ignore", "ignore"], input: "" });
`,
  );
  const done = spawnSync(
    "strace",
    [
      "-f",
      "--seccomp-bpf",
      "-qq",
      "-xx",
      "-s",
      "65535",
      "-e",
      "trace=execve",
      "-e",
      "signal=none",
      "-o",
      output,
      process.execPath,
      driver,
      input,
      shell,
    ],
    { encoding: "utf8", timeout: 600_000 },
  );
  if (done.status !== 0) throw new Error(`strace failed: ${done.stderr}`);
  return readTrace(readFileSync(output, "latin1"), lines.length);
}

/** Lines are distinguished by the name that their shell was started with. */
function readTrace(text: string, count: number): readonly (readonly Started[])[] {
  const perLine: Started[][] = Array.from({ length: count }, () => []);
  const pending = new Map<string, Started>();
  let current = -1;
  for (const row of text.split("\n")) {
    const call = /^(\d+)\s+execve\("((?:\\x[0-9a-f]{2})*)", \[(.*?)\], .*?(<unfinished \.\.\.>|= (-?\d+).*)$/.exec(row);
    const resumed = /^(\d+)\s+<\.\.\. execve resumed>.*= 0$/.exec(row);
    const started =
      call === null ? pending.get(resumed?.[1] ?? "") : { path: decoded(call[2] ?? ""), argv: words(call[3] ?? "") };
    if (started === undefined) continue;
    if (call?.[4]?.startsWith("<unfinished") === true) {
      pending.set(call[1] ?? "", started);
      continue;
    }
    pending.delete(call?.[1] ?? resumed?.[1] ?? "");
    if (call !== null && call[5] !== "0") continue;
    const mark = /^line-(\d+)$/.exec(started.argv[0] ?? "");
    if (mark === null) perLine[current]?.push(started);
    else current = Number(mark[1]);
  }
  return perLine;
}

const words = (text: string): string[] =>
  [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((match) => decoded(match[1] ?? ""));

const decoded = (hex: string): string => Buffer.from(hex.replaceAll("\\x", ""), "hex").toString("utf8");
