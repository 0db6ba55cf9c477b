// Starts a managed browser and waits until it can be controlled.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Env } from "../base/paths.ts";
import { errnoOf } from "../core/error.ts";
import { endProcess } from "./browser-process.ts";
import { egressArguments } from "./egress.ts";
import { discover } from "./endpoint.ts";
import { browserError } from "./errors.ts";
import type { Profile } from "./profiles.ts";
import { paintWindow } from "./window-color.ts";

export interface LaunchOptions {
  readonly profile: Profile;
  readonly program: string;
  readonly userData: string;
  readonly env: Env;
  readonly headless: boolean;
  readonly noSandbox: boolean;
  /** The guard's proxy: every request of the browser goes through it. */
  readonly proxyPort?: number | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called before the browser answers, so that a crash of the gateway leaves a trace of it. */
  readonly onSpawned?: (pid: number) => void;
  /** Default: a process of this machine. */
  readonly spawn?: SpawnBrowser | undefined;
}

/** Starts the program; its standard error is a pipe. */
export type SpawnBrowser = (command: BrowserCommand) => ChildProcess | Promise<ChildProcess>;

export interface BrowserCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly userData: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cdpPort: number;
  readonly proxyPort: number | undefined;
}

const POLL_MS = 25;
const ANSWER_MS = 1000;
const ACTIVE_PORT = "DevToolsActivePort";
const MAX_ERROR_BYTES = 4096;

/** Resolves when the browser answers on its debugging port. */
export async function launchBrowser(options: LaunchOptions): Promise<ChildProcess> {
  const { profile, program, userData, env, timeoutMs, signal } = options;
  mkdirSync(userData, { recursive: true, mode: 0o700 });
  // The caller made sure that no process uses the folder: a lock is from one that was killed.
  for (const name of ["SingletonLock", "SingletonCookie", "SingletonSocket", ACTIVE_PORT])
    rmSync(join(userData, name), { force: true });
  paintWindow(userData, profile);
  const start = options.spawn ?? spawnOnHost;
  const child = await start({
    program,
    args: launchArguments(options),
    userData,
    env: childEnv(env),
    cdpPort: profile.cdpPort ?? 0,
    proxyPort: options.proxyPort,
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-MAX_ERROR_BYTES)));
  let failure: string | undefined;
  child.once("error", (error) => (failure = error.message));
  // Not at "exit": the reason on standard error may arrive later.
  child.once("close", (code, cause) => (failure ??= `it ended with ${cause ?? `exit code ${code}`}`));
  if (child.pid !== undefined) options.onSpawned?.(child.pid);
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline && failure === undefined && !signal.aborted) {
    if (await answersFrom(userData, profile.cdpUrl, ANSWER_MS)) return child;
    await sleep(POLL_MS);
  }
  if (child.pid !== undefined) await endProcess(child.pid, 0);
  signal.throwIfAborted();
  throw startFailed(profile, failure ?? `it did not answer within ${timeoutMs} ms`, stderr);
}

/** True when the browser that answers there is the one of this data folder. */
export async function answersFrom(userData: string, cdpUrl: string, timeoutMs: number): Promise<boolean> {
  const endpoint = await discover(cdpUrl, timeoutMs);
  const path = readActivePath(userData);
  return endpoint !== undefined && (path === undefined || new URL(endpoint.url).pathname.endsWith(path));
}

/** Chromium writes its port and the path of its WebSocket into its data folder. */
function readActivePath(userData: string): string | undefined {
  try {
    return readFileSync(join(userData, ACTIVE_PORT), "utf8").split("\n")[1]?.trim();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

const spawnOnHost: SpawnBrowser = ({ program, args, env }) =>
  spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], env, detached: true });

function launchArguments(options: LaunchOptions): string[] {
  const { profile, userData, headless, noSandbox, proxyPort } = options;
  return [
    `--remote-debugging-port=${profile.cdpPort}`,
    "--remote-debugging-address=127.0.0.1",
    `--user-data-dir=${userData}`,
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-session-crashed-bubble",
    "--hide-crash-restore-bubble",
    ...(proxyPort === undefined ? [] : egressArguments(proxyPort)),
    ...(headless ? ["--headless=new", "--window-size=1280,800"] : []),
    ...(noSandbox ? ["--no-sandbox"] : []),
    "about:blank",
  ];
}

/** Only what a desktop program needs: no keys and tokens of the gateway. */
const passed =
  /^(?:HOME|USER|LOGNAME|PATH|LANG|LANGUAGE|LC_.*|TZ|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_.*|DBUS_SESSION_BUS_ADDRESS|FONTCONFIG_.*|SystemRoot|ProgramFiles.*|LOCALAPPDATA|APPDATA|TEMP|TMP|TMPDIR)$/;

function childEnv(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && passed.test(name) ? [[name, value]] : [])),
  );
}

function startFailed({ name, cdpPort }: Profile, reason: string, stderr: string): Error {
  const needsFlag = /no-sandbox/.test(stderr);
  return browserError(
    "browser.start-failed",
    `Failed to start Chrome CDP on port ${cdpPort} for profile "${name}": ${reason}`,
    {
      hint: needsFlag
        ? "the browser's own sandbox does not work here, for example as root; browser.noSandbox starts it without: openclaw config set browser.noSandbox true"
        : "openclaw browser status shows the program that is started",
      details: { stderr: stderr.slice(-1000) },
    },
  );
}
