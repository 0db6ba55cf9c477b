// npm test: every test file under the project's Node, Debian packages first where we may, and the counts on the last line.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, join } from "node:path";

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

const missing = installMissing(programs.filter(({ program }) => !isOnPath(program)));
const wanted = process.argv.slice(2);
const files = wanted.length > 0 ? wanted : globSync("{src,test,ui,scripts}/**/*.test.ts", { cwd: root }).sort();
const code = await runTests(files);
for (const { debian, suites } of missing) console.log(`left out: ${suites} (to add: apt-get install ${debian})`);
process.exit(code);

function runTests(paths: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ["--test", "--test-concurrency=2", ...bounded, "--test-reporter=spec", ...paths],
      {
        cwd: root,
        stdio: "inherit",
      },
    );
    child.on("exit", (status) => resolve(status ?? 1));
  });
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
