// `openclaw gateway run`: one process with in-place restarts and signal handling, and the first output a newcomer reads.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { systemClock } from "../base/clock.ts";
import { newSecret } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { describeLegacy, resolvePaths, shortenHome, type Env, type Paths } from "../base/paths.ts";
import { editConfig } from "../config/change.ts";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import { firstRunText } from "../config/first-run.ts";
import { operatorScopes } from "../protocol/scope.ts";
import type { Restart } from "../admin/deps.ts";
import { keepHeapSmall } from "../base/heap.ts";
import type { Runtime } from "../app/runtime.ts";
import { coldStart, warmStart, type RunOptions, type Started, type StartContext } from "./start.ts";

type Ending =
  | { readonly kind: "stop"; readonly signal: string; readonly fresh: false }
  | { readonly kind: "restart"; readonly reason: string; readonly fresh: boolean };

const RESTART_EXPECTED_MS = 1500;

/** Runs until a signal ends it; returns the exit code. Throws when it cannot start. */
export async function runGateway(options: RunOptions): Promise<number> {
  const paths = resolvePaths(options.env, options.profile);
  const legacy = describeLegacy(paths);
  if (legacy !== undefined) printError(legacy);
  if (options.setup === true) await setUp(paths, options.env);
  keepHeapSmall();
  const pace = createPace();
  let good: LoadedConfig | undefined;
  for (;;) {
    const ending = createEnding(pace);
    const context: StartContext = { paths, options, restart: ending.restart };
    const started = good === undefined ? await coldStart(context) : await warmStart(context, good);
    if (started === undefined) return 0;
    const { kind, fresh } = await runOnce(started, ending, options, good === undefined);
    if (kind === "stop") return 0;
    if (fresh) replaceProcess();
    good = started.runtime.settings.good();
  }
}

interface RunEnding {
  readonly ended: Promise<Ending>;
  readonly restart: Restart;
  readonly stop: (signal: string) => void;
  log?: Log;
}

/** One restart at a time: requests during a pending restart join it. */
function createEnding(pace: Pace): RunEnding {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  let restarting = false;
  const ending: RunEnding = {
    ended: promise,
    stop: (signal) => resolve({ kind: "stop", signal, fresh: false }),
    restart(reason, delayMs, { fresh = false } = {}) {
      if (restarting) return;
      restarting = true;
      const waitMs = Math.max(delayMs, pace.next());
      const delayed = waitMs > delayMs ? ` in ${waitMs} ms, because of many recent restarts` : "";
      ending.log?.info(`restarting${delayed}: ${reason}`);
      // Unreferenced, so that a stop does not wait for it.
      void sleep(waitMs, undefined, { ref: false }).then(() => resolve({ kind: "restart", reason, fresh }));
    },
  };
  return ending;
}

interface Pace {
  /** Milliseconds that the next restart must wait. */
  next(): number;
}

const PACE_WINDOW_MS = 30_000;
const PACE_FREE = 6;
const PACE_HOLD_MS = 5000;

/** Slows restarts down after many in a short time; requests during the wait join it. */
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

/** Continues in the same process with the code on disk, after an update. */
function replaceProcess(): void {
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, env as Record<string, string>);
}

async function runOnce(
  { runtime, running }: Started,
  ending: RunEnding,
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

/** SIGUSR1 restarts when `commands.restart` allows it. An uncaught error is logged and does not end the process. */
function onSignals({ log, settings }: Runtime, stop: (signal: string) => void, restart: Restart): () => void {
  const onUsr1 = (): void => {
    if (settings.now().config.commands?.restart === true) return restart("SIGUSR1", 0);
    log.warn("SIGUSR1 ignored: commands.restart is off", {
      hint: "openclaw gateway restart, or: openclaw config set commands.restart true",
    });
  };
  const onError = (error: unknown): void => log.error("uncaught error", { error });
  const handlers: [string, (argument: never) => void][] = [
    ["SIGTERM", () => stop("SIGTERM")],
    ["SIGINT", () => stop("SIGINT")],
    ["SIGUSR1", onUsr1],
    ["SIGHUP", () => log.debug("SIGHUP: the terminal closed; the gateway keeps running")],
    ["uncaughtException", onError],
    ["unhandledRejection", onError],
  ];
  for (const [name, handle] of handlers) process.on(name as "SIGTERM", handle as () => void);
  // A closed terminal must not end the gateway; its output is dropped.
  const onPipe = (): void => {};
  process.stdout.on("error", onPipe);
  process.stderr.on("error", onPipe);
  return () => {
    for (const [name, handle] of handlers) process.off(name, handle as () => void);
    process.stdout.off("error", onPipe);
    process.stderr.off("error", onPipe);
  };
}

/** Turns the sandbox on where one works, and reports why where none does (docs/decisions/0009-sandbox-on-by-default.md). */
async function setUp(paths: Paths, env: Env): Promise<void> {
  const loaded = loadConfig({ paths, env });
  if (loaded.exists) return completeConfig(loaded, paths, env);
  const { sandboxWorks } = await import("../exec/sandbox/detect.ts");
  const found = await sandboxWorks({ folder: join(paths.state, "probe"), env, log: quiet, clock: systemClock });
  const sandbox = "backend" in found;
  writeFileAtomic(paths.config, firstRunText({ token: newSecret(24), sandbox }));
  printError(`wrote a first config to ${shortenHome(paths.config, paths.home)}`);
  if (sandbox) return printError(`commands run in a sandbox (${found.backend})`);
  printError(`commands run on this machine without a sandbox, because none works here: ${found.reason}`);
  printError(`to enable one: ${found.fix}; then: openclaw config set agents.defaults.sandbox.mode all`);
}

/** A command such as `config set` may have written the file before the first start. */
function completeConfig({ valid, config: { gateway } }: LoadedConfig, paths: Paths, env: Env): void {
  if (!valid || gateway?.mode !== undefined) return;
  const { mode = "token", token, password } = gateway?.auth ?? {};
  const needsToken = mode === "token" && (token ?? password ?? env["OPENCLAW_GATEWAY_TOKEN"]) === undefined;
  editConfig({ paths, env }, () => [
    { path: "gateway.mode", value: "local" },
    ...(needsToken ? [{ path: "gateway.auth.token", value: newSecret(24) }] : []),
  ]);
  const added = needsToken ? "gateway.mode and gateway.auth.token" : "gateway.mode";
  printError(`added ${added} to ${shortenHome(paths.config, paths.home)}`);
}

const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };

function greet(url: string, code: string): void {
  process.stdout.write(
    `\nOpenClaw is running. Open this link once to pair your browser (valid for ten minutes):\n\n  ${url}/#pair=${code}\n\nStop with Ctrl-C. For a new link run: openclaw dashboard\n\n`,
  );
}

function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}
