// Runs the tests: installs missing Debian packages where possible, runs groups in parallel, and prints the counts last.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { root } from "./project.mjs";
import { isLongTest, longFiles, longRounds } from "./long-rounds.ts";
import type { Result } from "./test-results.ts";

interface GroupResult extends Result {
  readonly files: readonly string[];
  readonly seconds: number;
}

const usage = `usage: test.ts [--unit | --all] [file …]
  (none)     every test a contributor needs
  --unit     fast tests beside the sources that start no program
  --all      tests that are too long for every change: full rounds (faults, races, attacks, properties), *.long.test.ts`;

/** Programs that some suites need. A suite without its program is skipped with the reason. */
const programs: { readonly program: string; readonly debian: string; readonly suites: string }[] = [
  { program: "chromium", debian: "chromium", suites: "the page and the browser tool in a real browser" },
  { program: "strace", debian: "strace", suites: "the store under a failing fsync" },
  { program: "bwrap", debian: "bubblewrap", suites: "the bubblewrap sandbox" },
  { program: "dockerd", debian: "docker.io", suites: "the docker sandbox on a real engine" },
  { program: "busybox", debian: "busybox-static", suites: "the docker sandbox on a real engine" },
  { program: "nano", debian: "nano", suites: "an editor in a terminal" },
  { program: "vi", debian: "vim-tiny", suites: "an editor in a terminal" },
  { program: "less", debian: "less", suites: "a pager in a terminal" },
  { program: "top", debian: "procps", suites: "a full-screen program in a terminal" },
  { program: "rg", debian: "ripgrep", suites: "controls about rg" },
  { program: "curl", debian: "curl", suites: "the gateway's own files against allowlisted programs" },
  { program: "wget", debian: "wget", suites: "the gateway's own files against allowlisted programs" },
  { program: "unzip", debian: "unzip", suites: "the gateway's own files against allowlisted programs" },
  { program: "zip", debian: "zip", suites: "the gateway's own files against allowlisted programs" },
  { program: "rsync", debian: "rsync", suites: "the gateway's own files against allowlisted programs" },
  { program: "tmux", debian: "tmux", suites: "the terminal conversation in a real terminal" },
];

/** Most tests wait for processes and timers, so more groups than there are cores keep the cores busy. */
const AT_ONCE = 2 * availableParallelism() + 1;
const MAX_TEST_MS = 10 * 60_000;
/** `OPENCLAW_TEST_SLOWEST=500` lists how long every group took. */
const SLOWEST_SHOWN = Number(process.env["OPENCLAW_TEST_SLOWEST"] ?? 5);

const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith("--")));
const named = process.argv.slice(2).filter((word) => !word.startsWith("--"));
if ([...flags].some((flag) => flag !== "--unit" && flag !== "--all")) {
  console.error(usage);
  process.exit(2);
}
const isUnit = flags.has("--unit");
const isAll = flags.has("--all");
const startedAt = performance.now();
const absent = programs.filter(({ program }) => !isOnPath(program));
const missing = isUnit ? absent : installMissing(absent);
const results = await runGroups(groupsOf(filesToRun()));
report(results);
process.exit(results.every(({ failed }) => failed.length === 0) ? 0 : 1);

function filesToRun(): string[] {
  if (named.length > 0) return globSync(named, { cwd: root }).sort();
  const pattern = isUnit ? "{src,ui,scripts,bench}/**/*.test.ts" : "{src,test,ui,scripts,bench}/**/*.test.ts";
  const files = globSync(pattern, { cwd: root }).sort();
  if (isAll) return files.filter((file) => isLongTest(file, readFileSync(join(root, file), "utf8")));
  const short = files.filter((file) => !file.endsWith(".long.test.ts") && !longFiles.has(file));
  return isUnit ? short.filter((file) => !file.endsWith(".system.test.ts")) : short;
}

/**
 * Unit tests of one folder share a process, because starting a process per file costs more than most of them take.
 * Tests that start programs, and front-door tests, get their own process.
 */
function groupsOf(files: readonly string[]): string[][] {
  const shared = new Map<string, string[]>();
  const alone: string[][] = [];
  for (const file of files) {
    const [top = "", folder = ""] = file.split("/");
    if (top === "test" || isAll || file.endsWith(".system.test.ts")) alone.push([file]);
    else {
      const key = top === "src" ? folder : top;
      shared.set(key, [...(shared.get(key) ?? []), file]);
    }
  }
  // Longest first, so that no long group runs alone at the end.
  return [...alone, ...shared.values()];
}

async function runGroups(groups: readonly string[][]): Promise<GroupResult[]> {
  const waiting = [...groups];
  const done: GroupResult[] = [];
  const work = async (slot: number): Promise<void> => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift())
      done.push(await runGroup(group, slot));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, slot) => work(slot)));
  return done;
}

/** `slot`: groups that run at the same time have different ones; their tests take ports by it. */
async function runGroup(files: readonly string[], slot: number): Promise<GroupResult> {
  const begun = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "openclaw-results-"));
  const list = join(folder, "results.json");
  const reporters = [
    ["--test-reporter=spec", "--test-reporter-destination=stdout"],
    [`--test-reporter=${join(root, "scripts/test-results.ts")}`, `--test-reporter-destination=${list}`],
  ].flat();
  const args = ["--test", "--test-isolation=none", `--test-timeout=${MAX_TEST_MS}`, ...reporters, ...files];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    // Shares the compile cache between groups.
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(root, ".tools", "compile-cache"),
      OPENCLAW_TEST_SLOT: `${slot}/${AT_ONCE}`,
      ...(isAll ? longRounds : {}),
    },
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  const result = existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as Result) : undefined;
  rmSync(folder, { recursive: true, force: true });
  const known = result ?? { passed: 0, failed: [], skipped: [] };
  const failed = status !== 0 && known.failed.length === 0 ? [{ name: files.join(" "), detail: output }] : known.failed;
  process.stdout.write(`${output.replace(/\nℹ tests [^]*$/, "\n")}`);
  return { ...known, failed, files, seconds: Math.round((performance.now() - begun) / 1000) };
}

function report(all: readonly GroupResult[]): void {
  const failed = all.flatMap((result) => result.failed);
  const skipped = all.flatMap((result) => result.skipped);
  const passed = all.reduce((sum, result) => sum + result.passed, 0);
  for (const { name, detail } of failed) console.log(`\nFAILED ${name}\n${detail}`);
  const byReason = Map.groupBy(skipped, ({ reason }) => reason);
  for (const [reason, [first, ...others]] of byReason)
    console.log(`skipped: ${first?.name}${others.length === 0 ? "" : ` and ${others.length} more`}: ${reason}`);
  for (const { debian, suites } of missing) console.log(`left out: ${suites} (to add: apt-get install ${debian})`);
  for (const { files, seconds } of all.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN))
    console.log(`slowest: ${seconds} s  ${files.length === 1 ? files[0] : `${files.length} files like ${files[0]}`}`);
  console.log(`took ${Math.round((performance.now() - startedAt) / 1000)} s`);
  console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
}

function installMissing(wanted: typeof programs): typeof programs {
  if (wanted.length === 0 || process.getuid?.() !== 0 || !isOnPath("apt-get")) return wanted;
  const names = wanted.map(({ debian }) => debian);
  console.log(`installing Debian packages for the tests: ${names.join(" ")} …`);
  const apt = (args: string[]) =>
    spawnSync("apt-get", args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
  apt(["update"]);
  apt(["install", "-y", "--no-install-recommends", ...names]);
  return wanted.filter(({ program }) => !isOnPath(program));
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}
