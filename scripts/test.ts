// npm test: every test file under the project's Node, Debian packages first where we may, and the counts on the last line.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";

import { root } from "./ground.mjs";

/** Programs some suites need; each such suite skips by itself, saying why, when its program is absent. */
const programs: { readonly program: string; readonly debian: string; readonly suites: string }[] = [
  { program: "chromium", debian: "chromium", suites: "the page in a real browser" },
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

/** A test that hangs fails by its name; a file that something left open keeps from ending is ended. Neither holds up the rest. */
const longestTestMs = 15 * 60_000;
const longestFileMs = 40 * 60_000;
const watch = `if (process.env.NODE_TEST_CONTEXT !== undefined) setTimeout(() => {
  console.error("this file did not end within ${longestFileMs / 60_000} minutes");
  process.exit(1);
}, ${longestFileMs}).unref();`;
const bounded = [`--test-timeout=${longestTestMs}`, `--import=data:text/javascript,${encodeURIComponent(watch)}`];

/** More than that is no bad luck. */
const MOST_AGAIN = 3;

const missing = installMissing(programs.filter(({ program }) => !isOnPath(program)));
const wanted = process.argv.slice(2);
const files = wanted.length > 0 ? wanted : globSync("{src,test,ui,scripts,bench}/**/*.test.ts", { cwd: root }).sort();
const { code, failed } = await runTests(files);
const isSound = code === 0 || (wanted.length === 0 && (await passAlone(failed)));
for (const { debian, suites } of missing) console.log(`left out: ${suites} (to add: apt-get install ${debian})`);
process.exit(isSound ? 0 : 1);

/**
 * A whole run keeps a small machine busy for twenty minutes; a test that failed in it is judged once more by itself.
 * Passing then does not make it good: its file is named on the last lines until somebody mends it.
 */
async function passAlone(paths: readonly string[]): Promise<boolean> {
  if (paths.length === 0 || paths.length > MOST_AGAIN) return false;
  for (const path of paths) {
    console.log(`\nonce more, alone: ${relative(root, path)}`);
    if ((await runTests([path])).code !== 0) return false;
  }
  for (const path of paths)
    console.log(`unsteady: ${relative(root, path)} failed in the whole run and passed alone; it needs mending`);
  return true;
}

async function runTests(paths: readonly string[]): Promise<{ code: number; failed: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-failed-"));
  const list = join(folder, "files");
  const shown = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  const kept = [`--test-reporter=${join(root, "scripts/failed-files.ts")}`, `--test-reporter-destination=${list}`];
  const args = ["--test", "--test-concurrency=2", ...bounded, ...shown, ...kept, ...paths];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  const [status] = (await once(child, "exit")) as [number | null];
  const failed = existsSync(list) ? readFileSync(list, "utf8").split("\n").filter(Boolean) : [];
  rmSync(folder, { recursive: true, force: true });
  return { code: status ?? 1, failed };
}

function installMissing(absent: typeof programs): typeof programs {
  if (absent.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return absent;
  const names = absent.map(({ debian }) => debian);
  console.log(`installing Debian packages for the tests: ${names.join(" ")} …`);
  const apt = (args: string[]) =>
    spawnSync("apt-get", args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
  apt(["update"]);
  apt(["install", "-y", "--no-install-recommends", ...names]);
  return absent.filter(({ program }) => !isOnPath(program));
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}
