// `openclaw gateway run`: one process, in-place restarts, signals, and the first words a newcomer reads.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { systemClock } from "../base/clock.ts";
import { newSecret } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { describeLegacy, resolvePaths, shortenHome, type Env, type Paths } from "../base/paths.ts";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import { firstRunText } from "../config/first-run.ts";
import { operatorScopes } from "../protocol/scope.ts";
import type { Restart } from "./admin.ts";
import { keepHeapSmall } from "../base/heap.ts";
import type { Runtime } from "./runtime.ts";
import { coldStart, warmStart, type Started, type StartContext } from "./start.ts";

export interface RunOptions {
  readonly env: Env;
  readonly profile?: string | undefined;
  readonly port?: number | undefined;
  readonly bind?: string | undefined;
  /** Which of the two secrets holds for this run. */
  readonly auth?: "token" | "password" | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  /** Writes a first config when there is none. */
  readonly setup?: boolean | undefined;
  readonly allowUnconfigured?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

type Ending =
  | { readonly kind: "stop"; readonly signal: string; readonly fresh: false }
  | { readonly kind: "restart"; readonly reason: string; readonly fresh: boolean };

const RESTART_EXPECTED_MS = 1500;

/** Runs until a signal ends it; returns the exit code. Failures to start are thrown. */
export async function runGateway(options: RunOptions): Promise<number> {
  const paths = resolvePaths(options.env, options.profile);
  const legacy = describeLegacy(paths);
  if (legacy !== undefined) say(legacy);
  if (options.setup === true) await setUp(paths, options.env);
  keepHeapSmall();
  const pace = createPace();
  let good: LoadedConfig | undefined;
  for (;;) {
    const ending = createEnding(pace);
    const room: StartContext = { paths, options, restart: ending.restart };
    const started = good === undefined ? await coldStart(room) : await warmStart(room, good);
    if (started === undefined) return 0;
    const { kind, fresh } = await runOnce(started, ending, options, good === undefined);
    if (kind === "stop") return 0;
    if (fresh) replaceProcess();
    good = started.runtime.settings.good();
  }
}

interface EndingDoor {
  readonly ended: Promise<Ending>;
  readonly restart: Restart;
  readonly stop: (signal: string) => void;
  /** From now on restarts are logged here. */
  log?: Log;
}

/** One restart in flight at a time: those asked meanwhile are the same one. */
function createEnding(pace: Pace): EndingDoor {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  let restarting = false;
  const door: EndingDoor = {
    ended: promise,
    stop: (signal) => resolve({ kind: "stop", signal, fresh: false }),
    restart(reason, delayMs, { fresh = false } = {}) {
      if (restarting) return;
      restarting = true;
      const waitMs = Math.max(delayMs, pace.next());
      door.log?.info(`restarting${waitMs > delayMs ? ` in ${waitMs} ms, there were many of late` : ""}: ${reason}`);
      // A stop that comes first must not wait for it.
      void sleep(waitMs, undefined, { ref: false }).then(() => resolve({ kind: "restart", reason, fresh }));
    },
  };
  return door;
}

interface Pace {
  /** How long the next restart must wait. */
  next(): number;
}

const PACE_WINDOW_MS = 30_000;
const PACE_FREE = 6;
const PACE_HOLD_MS = 5000;

/** Many restarts in a short time are nobody's wish: each further one waits, and what is asked meanwhile joins it. */
function createPace(): Pace {
  let times: number[] = [];
  return {
    next() {
      const now = performance.now();
      times = [...times.filter((at) => now - at < PACE_WINDOW_MS), now];
      return times.length <= PACE_FREE ? 0 : Math.min(PACE_HOLD_MS * (times.length - PACE_FREE), PACE_WINDOW_MS);
    },
  };
}

/** The same process with the code that is on disk now, for after an update. */
function replaceProcess(): void {
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));
  const words = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, words, env as Record<string, string>);
}

async function runOnce(
  { runtime, running }: Started,
  ending: EndingDoor,
  options: RunOptions,
  first: boolean,
): Promise<Ending> {
  const { log } = runtime;
  ending.log = log;
  const release = onSignals(runtime, ending.stop, ending.restart);
  const { gateway, context } = running;
  log.info(
    `listening on ${gateway.urls.join(", ")} (pid ${process.pid}, state ${shortenHome(runtime.paths.state, runtime.paths.home)})`,
  );
  if (first && (options.setup === true || process.stdout.isTTY))
    greet(gateway.urls[0] ?? "", context.devices.newCode(operatorScopes).code);
  const end = await ending.ended;
  await running.close(
    end.kind === "restart"
      ? { text: "gateway restarting", restartExpectedMs: RESTART_EXPECTED_MS }
      : { text: `gateway stopping (${end.signal})` },
  );
  release();
  if (end.kind === "stop") log.info(`stopped by ${end.signal}`);
  await runtime.close();
  return end;
}

/** SIGUSR1 restarts when `commands.restart` allows it; a failure nobody caught is logged and contained. */
function onSignals({ log, settings }: Runtime, stop: (signal: string) => void, restart: Restart): () => void {
  const onUsr1 = (): void => {
    if (settings.now().config.commands?.restart === true) return restart("SIGUSR1", 0);
    log.warn("SIGUSR1 ignored: commands.restart is off", {
      hint: "openclaw gateway restart, or: openclaw config set commands.restart true",
    });
  };
  const onError = (error: unknown): void => log.error("contained a failure that nobody caught", { error });
  const handlers: [string, (argument: never) => void][] = [
    ["SIGTERM", () => stop("SIGTERM")],
    ["SIGINT", () => stop("SIGINT")],
    ["SIGUSR1", onUsr1],
    ["SIGHUP", () => log.debug("SIGHUP: the terminal is gone, going on")],
    ["uncaughtException", onError],
    ["unhandledRejection", onError],
  ];
  for (const [name, handle] of handlers) process.on(name as "SIGTERM", handle as () => void);
  // A closed terminal must not end the gateway: nobody is left to read what it prints.
  const onPipe = (): void => {};
  process.stdout.on("error", onPipe);
  process.stderr.on("error", onPipe);
  return () => {
    for (const [name, handle] of handlers) process.off(name, handle as () => void);
    process.stdout.off("error", onPipe);
    process.stderr.off("error", onPipe);
  };
}

/** The sandbox is on from the first day where one works; where none does, that is said (ruling 9). */
async function setUp(paths: Paths, env: Env): Promise<void> {
  const loaded = loadConfig({ paths, env });
  if (loaded.exists) return;
  const { sandboxWorks } = await import("../exec/sandbox/detect.ts");
  const found = await sandboxWorks({ folder: join(paths.state, "probe"), env, log: quiet, clock: systemClock });
  const sandbox = "backend" in found;
  writeFileAtomic(paths.config, firstRunText({ token: newSecret(24), sandbox }));
  say(`wrote a first config to ${shortenHome(paths.config, paths.home)}`);
  if (sandbox) return say(`commands run in a sandbox (${found.backend})`);
  say(`no sandbox works here, so commands would run on this machine as they are: ${found.reason}`);
  say(`to have one: ${found.fix}; then: openclaw config set agents.defaults.sandbox.mode all`);
}

const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };

function greet(url: string, code: string): void {
  process.stdout.write(
    `\nOpenClaw is running. Open this link once to pair your browser (valid for ten minutes):\n\n  ${url}/#pair=${code}\n\nStop with Ctrl-C. A new link: openclaw dashboard\n\n`,
  );
}

function say(words: string): void {
  process.stderr.write(`${words}\n`);
}
