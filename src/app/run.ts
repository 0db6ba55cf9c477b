// `openclaw gateway run`: one process, in-place restarts, signals, and the first words a newcomer reads.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { HouseError } from "../core/error.ts";
import { writeFileAtomic } from "../base/atomic-file.ts";
import { systemClock } from "../base/clock.ts";
import { newSecret } from "../base/ids.ts";
import type { Level, Log } from "../base/log.ts";
import { describeLegacy, resolvePaths, shortenHome, type Env, type Paths } from "../base/paths.ts";
import { readEnvironment } from "../config/environment.ts";
import { describeIssue } from "../config/issue.ts";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import { firstRunText } from "../config/first-run.ts";
import { openGatewayOver, type RunningGateway } from "./gateway.ts";
import { openHouse, type House } from "./house.ts";

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
  | { readonly kind: "stop"; readonly signal: string }
  | { readonly kind: "restart"; readonly reason: string };

const RESTART_EXPECTED_MS = 1500;

/** Runs until a signal ends it; returns the exit code. Failures to start are thrown. */
export async function runGateway(options: RunOptions): Promise<number> {
  const paths = resolvePaths(options.env, options.profile);
  const legacy = describeLegacy(paths);
  if (legacy !== undefined) say(legacy);
  if (options.setup === true) await setUp(paths, options.env);
  for (let first = true; ; first = false) {
    const env = withFlags(readEnvironment({ paths, env: options.env }), options);
    const loaded = startableConfig(paths, env, options);
    const { consoleLevel = "info" } = loaded.config.logging ?? {};
    const house = await openHouse({
      paths,
      env,
      loaded,
      consoleLevel: options.verbose === true ? "debug" : (consoleLevel as Level),
    });
    const ending = await runOnce(house, options, first);
    if (ending.kind === "stop") return 0;
  }
}

async function runOnce(house: House, options: RunOptions, first: boolean): Promise<Ending> {
  const { log } = house;
  const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
  let restarting = false;
  const restart = (reason: string, delayMs: number): void => {
    if (restarting) return;
    restarting = true;
    log.info(`restarting: ${reason}`);
    void sleep(delayMs).then(() => end({ kind: "restart", reason }));
  };
  let running: RunningGateway;
  try {
    running = await openGatewayOver(house, { port: options.port, bind: options.bind }, { restart });
  } catch (error) {
    await house.close();
    throw error;
  }
  const release = onSignals(house, (signal) => end({ kind: "stop", signal }), restart);
  const { gateway, context } = running;
  log.info(
    `listening on ${gateway.urls.join(", ")} (pid ${process.pid}, state ${shortenHome(house.paths.state, house.paths.home)})`,
  );
  if (first && (options.setup === true || process.stdout.isTTY))
    greet(gateway.urls[0] ?? "", context.devices.newCode().code);
  const ending = await ended;
  await running.close(
    ending.kind === "restart"
      ? { text: "gateway restarting", restartExpectedMs: RESTART_EXPECTED_MS }
      : { text: `gateway stopping (${ending.signal})` },
  );
  release();
  if (ending.kind === "stop") log.info(`stopped by ${ending.signal}`);
  await house.close();
  return ending;
}

/** SIGUSR1 restarts when `commands.restart` allows it; a failure nobody caught is logged and contained. */
function onSignals(
  { log, settings }: House,
  stop: (signal: string) => void,
  restart: (reason: string, delayMs: number) => void,
): () => void {
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
  const { sandboxWorks } = await import("../exec/box/detect.ts");
  const found = await sandboxWorks({ folder: join(paths.state, "probe"), env, log: quiet, clock: systemClock });
  const sandbox = "backend" in found;
  writeFileAtomic(paths.config, firstRunText({ token: newSecret(24), sandbox }));
  say(`wrote a first config to ${shortenHome(paths.config, paths.home)}`);
  if (sandbox) return say(`commands run in a sandbox (${found.backend})`);
  say(`no sandbox works here, so commands would run on this machine as they are: ${found.reason}`);
  say(`to have one: ${found.fix}; then: openclaw config set agents.defaults.sandbox.mode all`);
}

const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };

function startableConfig(paths: Paths, env: Env, { allowUnconfigured }: RunOptions): LoadedConfig {
  const loaded = loadConfig({ paths, env });
  if (!loaded.valid) {
    throw new HouseError(
      "config.invalid",
      `the config ${shortenHome(paths.config, paths.home)} is not valid:\n${loaded.issues
        .slice(0, 12)
        .map((issue) => `  ${describeIssue(issue)}`)
        .join("\n")}`,
      {
        hint: "openclaw doctor --fix, or mend the lines above; check with: openclaw config validate",
        details: { issues: loaded.issues },
      },
    );
  }
  if (loaded.config.gateway?.mode !== "local" && allowUnconfigured !== true) {
    throw new HouseError("gateway.unconfigured", "Gateway start blocked: set gateway.mode=local", {
      hint: "openclaw gateway run --setup writes a first config; with one of your own: openclaw config set gateway.mode local",
    });
  }
  return loaded;
}

function withFlags(env: Env, { auth, token, password }: RunOptions): Env {
  return {
    ...env,
    ...(auth === undefined ? {} : { OPENCLAW_GATEWAY_AUTH: auth }),
    ...(token === undefined ? {} : { OPENCLAW_GATEWAY_TOKEN: token }),
    ...(password === undefined ? {} : { OPENCLAW_GATEWAY_PASSWORD: password }),
  };
}

function greet(url: string, code: string): void {
  process.stdout.write(
    `\nOpenClaw is running. Open this link once to pair your browser (valid for ten minutes):\n\n  ${url}/#pair=${code}\n\nStop with Ctrl-C. A new link: openclaw dashboard\n\n`,
  );
}

function say(words: string): void {
  process.stderr.write(`${words}\n`);
}
