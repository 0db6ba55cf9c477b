// update.run: updates a git checkout to its upstream step by step; for other installations it returns the command.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../core/error.ts";
import type { Mask } from "../base/mask.ts";
import type { Env } from "../base/paths.ts";

export interface UpdateStep {
  readonly name: string;
  readonly command: string;
  readonly ok: boolean;
  readonly durationMs: number;
  /** The end of its output. */
  readonly tail: string;
}

export interface UpdateReport {
  readonly status: "ok" | "skipped" | "error";
  readonly mode: "git" | "package";
  readonly root: string;
  /** Why it was skipped or failed. */
  readonly reason?: string;
  /** What a person can run instead. */
  readonly command?: string;
  readonly before?: string;
  readonly after?: string;
  readonly steps: readonly UpdateStep[];
}

export interface UpdateContext {
  readonly root: string;
  readonly env: Env;
  readonly mask: Mask;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  /** Throws when the caller may not update; called only for a git checkout. */
  readonly permit?: () => Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 20 * 60_000;
const UNDO_MS = 60_000;
const TAIL_CHARS = 2000;

/** Changes only a clean checkout; a step that fails restores the old commit. */
export async function runUpdate(context: UpdateContext): Promise<UpdateReport> {
  const { root } = context;
  if (!existsSync(join(root, ".git"))) {
    return {
      status: "skipped",
      mode: "package",
      root,
      reason: "this installation is a package, not a git checkout",
      command: "npm install -g openclaw@latest, then: openclaw gateway restart",
      steps: [],
    };
  }
  await context.permit?.();
  const { step, undo, steps, end } = openSteps(context);
  const report = (
    status: UpdateReport["status"],
    reason?: string,
    facts: Partial<UpdateReport> = {},
  ): UpdateReport => ({
    status,
    mode: "git",
    root,
    ...(reason === undefined ? {} : { reason }),
    ...facts,
    steps,
  });
  try {
    const state = await step("clean", "git", ["status", "--porcelain"]);
    if (!state.ok) return report("error", "git cannot read this checkout");
    if (state.tail !== "")
      return report("skipped", "the checkout has local changes", { command: `git -C ${root} status` });
    const before = (await step("present commit", "git", ["rev-parse", "HEAD"])).tail;
    const upstream = await step("upstream", "git", [
      "rev-parse",
      "--abbrev-ref",
      "--symbolic-full-name",
      "@{upstream}",
    ]);
    if (!upstream.ok)
      return report("skipped", "the branch follows no upstream", {
        command: `git -C ${root} branch -u origin/main`,
        before,
      });
    if (!(await step("fetch", "git", ["fetch", "--prune"])).ok) return report("error", "the fetch failed", { before });
    const behind = await step("compare", "git", ["rev-list", "--count", "HEAD..@{upstream}"]);
    if (behind.tail === "0") return report("skipped", "already up to date", { before });
    if (!(await step("rebase", "git", ["rebase", "@{upstream}"])).ok) {
      await undo("rebase abort", ["rebase", "--abort"]);
      return report("error", "the rebase failed; the checkout is unchanged", { before });
    }
    const after = (await step("new commit", "git", ["rev-parse", "HEAD"])).tail;
    for (const [name, words] of buildSteps(root)) {
      if ((await step(name, "npm", words)).ok) continue;
      await undo("go back", ["reset", "--hard", before]);
      return report("error", `${name} failed; the checkout is back at the old commit`, { before });
    }
    return report("ok", undefined, { before, after });
  } finally {
    end();
  }
}

/** One text for people, models and the note after the restart. */
export function updateText({ status, reason, command, before, after, steps }: UpdateReport): string {
  const failed = steps.findLast(({ ok }) => !ok);
  const lines = [
    `Update ${status}${reason === undefined ? "" : `: ${reason}`}.`,
    ...(before !== undefined && after !== undefined ? [`${before.slice(0, 12)} → ${after.slice(0, 12)}`] : []),
    ...(command === undefined ? [] : [`To update by hand: ${command}`]),
    ...(status === "error" && failed !== undefined ? [`${failed.command}:\n${failed.tail}`] : []),
  ];
  return lines.join("\n");
}

/** Commands of the package itself. */
function buildSteps(root: string): readonly (readonly [name: string, words: readonly string[]])[] {
  const install = existsSync(join(root, "package-lock.json")) ? ["ci", "--no-audit", "--no-fund"] : ["install"];
  return [
    ["install", install],
    ["build", ["run", "build", "--if-present"]],
  ];
}

interface Steps {
  readonly steps: readonly UpdateStep[];
  readonly step: (name: string, program: string, words: readonly string[]) => Promise<UpdateStep>;
  /** Runs also after the timeout, because half an update is worse than none. */
  readonly undo: (name: string, words: readonly string[]) => Promise<UpdateStep>;
  readonly end: () => void;
}

function openSteps({ root, env, mask, timeoutMs = DEFAULT_TIMEOUT_MS, signal }: UpdateContext): Steps {
  const steps: UpdateStep[] = [];
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), Math.min(Math.max(1000, timeoutMs), 3_600_000));
  const stop = AbortSignal.any([signal, time.signal]);
  const take = async (name: string, program: string, words: readonly string[], until: AbortSignal) => {
    const started = performance.now();
    const { ok, output } = await ran(program, words, { root, env, signal: until });
    const done: UpdateStep = {
      name,
      command: [program, ...words].join(" "),
      ok,
      durationMs: Math.round(performance.now() - started),
      tail: mask(output.trim()).slice(-TAIL_CHARS).toWellFormed(),
    };
    steps.push(done);
    return done;
  };
  return {
    steps,
    end: () => clearTimeout(timer),
    step: (name, program, words) => take(name, program, words, stop),
    undo: (name, words) => take(name, "git", words, AbortSignal.timeout(UNDO_MS)),
  };
}

/** The only variables that git and npm get, so that no API key reaches a build script. */
const passedVariables = [
  "PATH",
  "HOME",
  "USER",
  "LANG",
  "TMPDIR",
  "SSH_AUTH_SOCK",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
];

function ran(
  program: string,
  words: readonly string[],
  { root, env, signal }: { readonly root: string; readonly env: Env; readonly signal: AbortSignal },
): Promise<{ readonly ok: boolean; readonly output: string }> {
  if (signal.aborted) return Promise.resolve({ ok: false, output: "stopped: timed out" });
  const kept = Object.fromEntries(
    passedVariables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(program, words, {
      cwd: root,
      env: { ...kept, GIT_TERMINAL_PROMPT: "0", CI: "1" },
      stdio: ["ignore", "pipe", "pipe"],
      // In its own process group, so that child processes of a build end with it.
      detached: true,
    });
    const stop = (): void => {
      output += "\nstopped";
      if (child.pid !== undefined) endGroup(child.pid);
    };
    signal.addEventListener("abort", stop, { once: true });
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString("utf8")).slice(-100_000);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", (error) => resolve({ ok: false, output: `${output}\n${error.message}` }));
    child.on("close", (code) => {
      signal.removeEventListener("abort", stop);
      resolve({ ok: code === 0, output });
    });
  });
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // It has already ended.
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}
