// Reads PATH from the owner's login shell once, on first use, with a time limit, and merges it with the other folders.
import { spawn } from "node:child_process";
import { delimiter, isAbsolute } from "node:path";

import { newSecret } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { expandTilde } from "../base/paths.ts";

const LOGIN_TIMEOUT_MS = 15_000;
const MAX_BYTES = 1_000_000;

/** For a daemon that was started with almost no environment. */
export const minimalPath: readonly string[] =
  process.platform === "darwin"
    ? ["/opt/homebrew/bin", "/usr/local/bin", "/usr/bin", "/bin"]
    : ["/usr/local/bin", "/usr/bin", "/bin"];

export interface LoginPathOptions {
  /** The owner's own shell, including fish. */
  readonly shell: string;
  /** The environment a command would get, without secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  readonly timeoutMs?: number;
}

/** The folders of the login shell's PATH; empty when it could not be read. The result is cached. */
export function createLoginPath(options: LoginPathOptions): () => Promise<readonly string[]> {
  let answer: Promise<readonly string[]> | undefined;
  return () => (answer ??= ask(options));
}

export interface SearchPathParts {
  /** `tools.exec.pathPrepend`. */
  readonly prepend: readonly string[];
  readonly login: readonly string[];
  /** The gateway's own PATH. */
  readonly own: string | undefined;
  readonly home: string;
}

/** In search order, without duplicates. Relative folders are skipped, because they depend on the working directory. */
export function searchPath({ prepend, login, own, home }: SearchPathParts): readonly string[] {
  const wanted = prepend.map((folder) => expandTilde(folder, home));
  const inherited = (own ?? "").split(delimiter);
  const all = [...wanted, ...login, ...inherited, ...minimalPath].filter((folder) => isAbsolute(folder));
  return [...new Set(all.filter((folder) => !folder.includes(delimiter)))];
}

async function ask({ shell, env, log, timeoutMs = LOGIN_TIMEOUT_MS }: LoginPathOptions): Promise<readonly string[]> {
  // Profiles may print anything, so only the text between two random markers counts.
  const word = newSecret();
  const text = await runShell(shell, `printf '%s' '${word}' "$PATH" '${word}'`, env, timeoutMs);
  const path = typeof text === "string" ? text.split(word)[1] : undefined;
  if (path === undefined) {
    const why = text instanceof Error ? text.message : "it did not answer";
    log.warn("could not read PATH from the login shell; commands use the gateway's PATH", { shell, why });
    return [];
  }
  return path.split(delimiter).filter((folder) => isAbsolute(folder));
}

async function runShell(
  shell: string,
  script: string,
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<string | Error> {
  return new Promise((resolve) => {
    const child = spawn(shell, ["-l", "-c", script], {
      env,
      cwd: "/",
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (): void => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      process.kill(-child.pid, "SIGKILL");
    };
    const timer = setTimeout(() => {
      stop();
      resolve(new Error(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) stop();
      else chunks.push(chunk);
    });
    child.once("error", (error) => {
      clearTimeout(timer);
      resolve(error);
    });
    // Waits for the shell, not the stream: a daemon started by a profile can hold the stream open forever.
    child.once("exit", () => {
      clearTimeout(timer);
      setImmediate(() => {
        child.stdout.destroy();
        resolve(Buffer.concat(chunks).toString("utf8"));
      });
    });
  });
}
