// Starting the gateway so that it never loops: a bad edit keeps the last good config, a start that fails again and again
// ends in repair mode with its reason.
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
import { storeFileOf } from "../store/place.ts";
import type { Restart } from "./admin.ts";
import { openGatewayOver, type RunningGateway } from "./gateway.ts";
import { openRuntime, type Runtime } from "./runtime.ts";
// Loaded with the start: when it is needed, loading may be what fails.
import { waitForCure } from "./repair.ts";
import type { RunOptions } from "./run.ts";
import { countStartFailure, forgetStartFailures, reasonOf, startFailures } from "./start-failures.ts";

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

/** The first start of a process. Throws what is wrong; waits in repair mode once it has failed often. Undefined: stopped. */
export async function coldStart(room: StartContext): Promise<Started | undefined> {
  const { state } = room.paths;
  const failed = startFailures(state);
  try {
    const started = await openOnDisk(room, failed.times.length > 0);
    if (failed.times.length > 0) forgetStartFailures(state);
    return started;
  } catch (error) {
    // Somebody who sits in front of it reads the reason; a supervisor would only start it again.
    if (!isWorthWaiting(error) || process.stdout.isTTY || !isOneTooMany(state, error)) throw error;
    return waitForCure(room, error, async () => {
      const started = await openOnDisk(room, true);
      forgetStartFailures(state);
      return started;
    });
  }
}

/** A restart: the process ran, so it goes on, with what is on disk or else with what ran before. */
export async function warmStart(room: StartContext, good: LoadedConfig): Promise<Started | undefined> {
  const refusal = await tryThrice(() => openOnDisk(room, true));
  if (!(refusal instanceof Refused)) return refusal;
  const reason = reasonOf(refusal.error);
  const onDisk = loadConfig({ paths: room.paths, env: envOf(room) }).hash;
  const fallen = await tryThrice(() => open(room, good, true, { reason, onDisk }));
  if (fallen instanceof Refused) {
    return waitForCure(room, refusal.error, () => openOnDisk(room, true));
  }
  fallen.runtime.log.error(`the config on disk is not in force, going on with the last good one: ${reason}`, {
    hint: "openclaw doctor",
  });
  return fallen;
}

/** A folder that cannot be written cannot count: then the reason is only said. */
function isOneTooMany(state: string, error: unknown): boolean {
  try {
    return countStartFailure(state, reasonOf(error)) >= MAX_TRIES;
  } catch (failure) {
    if (failure instanceof OpenClawError) return false;
    throw failure;
  }
}

async function openOnDisk(room: StartContext, careful: boolean): Promise<Started> {
  return open(room, startableConfig(room.paths, envOf(room), room.options), careful);
}

function envOf({ paths, options }: StartContext): Env {
  return withFlags(readEnvironment({ paths, env: options.env }), options);
}

/** `careful` looks whether the port can be had before anything is opened: what is opened may begin to work. */
async function open(
  room: StartContext,
  loaded: LoadedConfig,
  careful: boolean,
  trouble?: { readonly reason: string; readonly onDisk: string },
): Promise<Started> {
  const { paths, options, restart } = room;
  const env = envOf(room);
  const flags = { port: options.port, bind: options.bind };
  if (careful)
    await requirePort(bindingOf(loaded.config, env, flags, sharedSecret(loaded.config, env).value !== undefined));
  const { consoleLevel = "info" } = loaded.config.logging ?? {};
  const level = options.verbose === true ? "debug" : (consoleLevel as Level);
  const runtime = await openRuntime({ paths, env, loaded, consoleLevel: level }).catch((error: unknown) => {
    throw withWhatToDelete(error, paths);
  });
  // It holds as long as the file is the one that could not be taken over.
  const troubleNow = (): string | undefined =>
    trouble !== undefined && runtime.settings.read().hash === trouble.onDisk ? trouble.reason : undefined;
  try {
    return { runtime, running: await openGatewayOver(runtime, flags, { restart, trouble: troubleNow }) };
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

/** A start that finds no space names the files that can go. */
function withWhatToDelete(error: unknown, { state }: Paths): unknown {
  if (!(error instanceof OpenClawError) || error.code !== "file.full") return error;
  return new OpenClawError(error.code, error.message, {
    hint: whatToDelete(storeFileOf(state)),
    details: error.details,
    cause: error,
  });
}

/** Marks a failure, so that it is told from a start. */
class Refused {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** Only what may be different in a moment is tried again. */
async function tryThrice(start: () => Promise<Started>): Promise<Started | Refused> {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      const mayPass = error instanceof OpenClawError && passing.has(error.code);
      if (!mayPass || tries === MAX_TRIES) return new Refused(error);
      await sleep(BACK_OFF_MS * 2 ** (tries - 1));
    }
  }
}

const passing: ReadonlySet<string> = new Set(["gateway.port-taken", "gateway.cannot-bind", "lock.held"]);

/** Another gateway on the same state is no broken start: it runs. */
function isWorthWaiting(error: unknown): boolean {
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
        hint: "openclaw doctor --fix, or mend the lines above; check with: openclaw config validate",
        details: { issues: loaded.issues },
      },
    );
  }
  if (loaded.config.gateway?.mode !== "local" && allowUnconfigured !== true) {
    throw new OpenClawError("gateway.unconfigured", "Gateway start blocked: set gateway.mode=local", {
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
