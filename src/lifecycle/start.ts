// Starts the gateway without restart loops: after a bad edit it keeps the last good config, and a start that fails
// repeatedly ends in repair mode.
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import type { Level } from "../base/log.ts";
import { shortenHome, type Env, type Paths } from "../base/paths.ts";
import { readEnvironment } from "../config/environment.ts";
import { describeIssue } from "../config/issue.ts";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import { bindingOf, cannotListen } from "../gateway/bind.ts";
import { sharedSecret } from "../gateway/secret.ts";
import { whatToDelete } from "../store/leftovers.ts";
import { storeFileOf } from "../store/store-files.ts";
import type { Restart } from "../admin/deps.ts";
import { openGatewayOver, type RunningGateway } from "../app/gateway.ts";
import { openRuntime, type Runtime } from "../app/runtime.ts";
// Not lazy: when it is needed, loading modules may be what fails.
import { waitForRepair } from "./repair.ts";
import { countStartFailure, forgetStartFailures, reasonOf, startFailures } from "./start-failures.ts";

export interface RunOptions {
  readonly env: Env;
  readonly profile?: string | undefined;
  readonly port?: number | undefined;
  readonly bind?: string | undefined;
  /** Which of the two secrets applies to this run. */
  readonly auth?: "token" | "password" | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  /** Writes a first config when there is none. */
  readonly setup?: boolean | undefined;
  readonly allowUnconfigured?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

export interface Started {
  readonly runtime: Runtime;
  readonly running: RunningGateway;
}

export interface StartContext {
  readonly paths: Paths;
  readonly options: RunOptions;
  readonly restart: Restart;
}

const MAX_TRIES = 3;
const BACK_OFF_MS = 250;

/** The first start of a process. Throws when it fails; after repeated failures it waits in repair mode. Undefined: stopped. */
export async function coldStart(context: StartContext): Promise<Started | undefined> {
  const { state } = context.paths;
  const failed = startFailures(state);
  try {
    const started = await openOnDisk(context, failed.times.length > 0);
    if (failed.times.length > 0) forgetStartFailures(state);
    return started;
  } catch (error) {
    // A person at a terminal reads the error; a supervisor would only start it again.
    if (!canBeRepaired(error) || process.stdout.isTTY || !isRepeated(state, error)) throw error;
    return waitForRepair(context, error, async () => {
      const started = await openOnDisk(context, true);
      forgetStartFailures(state);
      return started;
    });
  }
}

/** A restart in place: uses the config on disk, or the last good one when that fails. */
export async function warmStart(context: StartContext, good: LoadedConfig): Promise<Started | undefined> {
  const started = await retry(() => openOnDisk(context, true));
  if (!(started instanceof Failed)) return started;
  const reason = reasonOf(started.error);
  const onDisk = loadConfig({ paths: context.paths, env: envOf(context) }).hash;
  const fallback = await retry(() => open(context, good, true, { reason, onDisk }));
  if (fallback instanceof Failed) return waitForRepair(context, started.error, () => openOnDisk(context, true));
  fallback.runtime.log.error(`running with the last good config, because the one on disk failed to start: ${reason}`, {
    hint: "openclaw doctor",
  });
  return fallback;
}

/** Counts the failure; where the state folder cannot be written, no failure counts as repeated. */
function isRepeated(state: string, error: unknown): boolean {
  try {
    return countStartFailure(state, reasonOf(error)) >= MAX_TRIES;
  } catch (failure) {
    if (failure instanceof OpenClawError) return false;
    throw failure;
  }
}

async function openOnDisk(context: StartContext, careful: boolean): Promise<Started> {
  return open(context, startableConfig(context.paths, envOf(context), context.options), careful);
}

function envOf({ paths, options }: StartContext): Env {
  return withFlags(readEnvironment({ paths, env: options.env }), options);
}

/** `careful` tries the port before opening anything, because opened parts begin to work immediately. */
async function open(
  context: StartContext,
  loaded: LoadedConfig,
  careful: boolean,
  problem?: { readonly reason: string; readonly onDisk: string },
): Promise<Started> {
  const { paths, options, restart } = context;
  const env = envOf(context);
  const flags = { port: options.port, bind: options.bind };
  if (careful)
    await requirePort(bindingOf(loaded.config, env, flags, sharedSecret(loaded.config, env).value !== undefined));
  const { consoleLevel = "info" } = loaded.config.logging ?? {};
  const level = options.verbose === true ? "debug" : (consoleLevel as Level);
  const runtime = await openRuntime({ paths, env, loaded, consoleLevel: level }).catch((error: unknown) => {
    throw withDeletableFiles(error, paths);
  });
  // Reported until the file on disk changes.
  const configProblem = (): string | undefined =>
    problem !== undefined && runtime.settings.read().hash === problem.onDisk ? problem.reason : undefined;
  try {
    return { runtime, running: await openGatewayOver(runtime, flags, { restart, configProblem }) };
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

/** Adds the files that can be deleted to a "disk full" error. */
function withDeletableFiles(error: unknown, { state }: Paths): unknown {
  if (!(error instanceof OpenClawError) || error.code !== "file.full") return error;
  return new OpenClawError(error.code, error.message, {
    hint: whatToDelete(storeFileOf(state)),
    details: error.details,
    cause: error,
  });
}

class Failed {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** Tries again only for errors that may pass by themselves. */
async function retry(start: () => Promise<Started>): Promise<Started | Failed> {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      const mayPass = error instanceof OpenClawError && temporary.has(error.code);
      if (!mayPass || tries === MAX_TRIES) return new Failed(error);
      await sleep(BACK_OFF_MS * 2 ** (tries - 1));
    }
  }
}

const temporary: ReadonlySet<string> = new Set(["gateway.port-taken", "gateway.cannot-bind", "lock.held"]);

/** A held lock means that another gateway runs on this state; there is nothing to repair. */
function canBeRepaired(error: unknown): boolean {
  return !(error instanceof OpenClawError && error.code === "lock.held");
}

function requirePort({ hosts: [host = "127.0.0.1"], port }: ReturnType<typeof bindingOf>): Promise<void> {
  return new Promise((resolve, reject) => {
    const trial = createServer();
    trial.once("error", (cause) => reject(cannotListen(cause, host, port)));
    trial.listen({ host, port, exclusive: true }, () => trial.close(() => resolve()));
  });
}

function startableConfig(paths: Paths, env: Env, { allowUnconfigured }: RunOptions): LoadedConfig {
  const loaded = loadConfig({ paths, env });
  if (!loaded.valid) {
    throw new OpenClawError(
      "config.invalid",
      `the config ${shortenHome(paths.config, paths.home)} is not valid:\n${loaded.issues
        .slice(0, 12)
        .map((issue) => `  ${describeIssue(issue)}`)
        .join("\n")}`,
      {
        hint: "openclaw doctor --fix, or fix the lines above and check with: openclaw config validate",
        details: { issues: loaded.issues },
      },
    );
  }
  if (loaded.config.gateway?.mode !== "local" && allowUnconfigured !== true) {
    throw new OpenClawError("gateway.unconfigured", "Gateway start blocked: set gateway.mode=local", {
      hint: loaded.exists
        ? "openclaw gateway run --setup adds it, and a token if there is none; or: openclaw config set gateway.mode local"
        : "openclaw gateway run --setup writes a first config; with one of your own: openclaw config set gateway.mode local",
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
