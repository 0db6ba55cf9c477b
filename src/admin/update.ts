// update.run: brings a git checkout up to its upstream, step by step and reported; other installations say how.
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
  /** The end of what it printed. */
  readonly tail: string;
}

export interface UpdateReport {
  readonly status: "ok" | "skipped" | "error";
  readonly mode: "git" | "package";
  readonly root: string;
  /** Why it was skipped, or what went wrong. */
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
  /** Throws when whoever asks may not; asked only when there is something to update. */
  readonly permit?: () => Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 20 * 60_000;
const TAKE_BACK_MS = 60_000;
const TAIL_CHARS = 2000;

/** Nothing is changed unless the checkout is clean; a step that fails puts the old commit back. */
export async function runUpdate(room: UpdateContext): Promise<UpdateReport> {
  const { root } = room;
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
  await room.permit?.();
  const { step, takeBack, steps, end } = openSteps(room);
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
    if (!(await step("fetch", "git", ["fetch", "--prune"])).ok) return report("error", "fetching failed", { before });
    const behind = await step("compare", "git", ["rev-list", "--count", "HEAD..@{upstream}"]);
    if (behind.tail === "0") return report("skipped", "already up to date", { before });
    if (!(await step("rebase", "git", ["rebase", "@{upstream}"])).ok) {
      await takeBack("rebase abort", ["rebase", "--abort"]);
      return report("error", "rebasing failed; the checkout is as it was", { before });
    }
    const after = (await step("new commit", "git", ["rev-parse", "HEAD"])).tail;
    for (const [name, words] of buildSteps(root)) {
      if ((await step(name, "npm", words)).ok) continue;
      await takeBack("go back", ["reset", "--hard", before]);
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
    ...(command === undefined ? [] : [`By hand: ${command}`]),
    ...(status === "error" && failed !== undefined ? [`${failed.command}:\n${failed.tail}`] : []),
  ];
  return lines.join("\n");
}

/** What the package itself offers. */
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
  /** Also when the time is over: half an update is worse than none. */
  readonly takeBack: (name: string, words: readonly string[]) => Promise<UpdateStep>;
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
    takeBack: (name, words) => take(name, "git", words, AbortSignal.timeout(TAKE_BACK_MS)),
  };
}

/** Only what these programs need of the environment: no keys of ours reach a build script. */
const passed = ["PATH", "HOME", "USER", "LANG", "TMPDIR", "SSH_AUTH_SOCK", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"];

function ran(
  program: string,
  words: readonly string[],
  { root, env, signal }: { readonly root: string; readonly env: Env; readonly signal: AbortSignal },
): Promise<{ readonly ok: boolean; readonly output: string }> {
  if (signal.aborted) return Promise.resolve({ ok: false, output: "stopped: the time is over" });
  const kept = Object.fromEntries(passed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(program, words, {
      cwd: root,
      env: { ...kept, GIT_TERMINAL_PROMPT: "0", CI: "1" },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, so that what a build starts ends with it.
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
    // It has just ended by itself.
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}
