// The docker backend: one container per sandbox, with commands started in it through the docker program.
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { Clock } from "../../base/clock.ts";
import { newSecret } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Env } from "../../base/paths.ts";
import type { Sandbox, HostLaunch, Launch } from "../sandbox.ts";
import { createAnonymousFiles, type AnonymousFiles } from "./anonymous-file.ts";
import {
  containerEnv,
  createArguments,
  killArguments,
  envLines,
  execArguments,
  LABEL,
  SETTINGS_LABEL,
  NAMES_LABEL,
  namesHash,
} from "./docker-arguments.ts";
import { createDockerCli, type DockerCli } from "./docker-cli.ts";
import { createSetup, type Setup } from "./setup.ts";
import type { ProtectedWorkspace, ReadonlyNames, NameProtection } from "./readonly-names.ts";
import { cacheSuccess, notWorking, type Backend, type SandboxSpec, type LiveStatus, type Works } from "./spec.ts";

export interface DockerDeps {
  readonly nameProtection: NameProtection;
  readonly folder: string;
  readonly env: Env;
  readonly log: Log;
  readonly clock: Clock;
}

/** A recently used container is not replaced because of a changed setting. */
const RECENT_MS = 5 * 60_000;
/** How long a container is assumed to run after it was seen running. */
const TRUST_MS = 20_000;
/** After this time without a command, leftover processes in the container are ended, as in other sandboxes. */
const IDLE_MS = 2000;

export function createDocker({ nameProtection, folder, env, log, clock }: DockerDeps): Backend {
  const cli = createDockerCli(env);
  const tools: Tools = {
    cli,
    files: createAnonymousFiles(folder),
    nameProtection,
    setup: createSetup(),
    log,
    clock,
    held: new Map(),
    live: new Map(),
  };
  return {
    kind: "docker",
    works: cacheSuccess(() => probeDocker(cli)),
    check: () => undefined,
    open: (spec) => openSandbox(spec, tools),
    remove: (name) => removeContainer(name, tools),
    liveStatus: () => listContainers(cli),
    async close() {
      // Killed, so that mounts do not stay in workspaces; the next use starts the container again.
      for (const { timer } of tools.live.values()) clearTimeout(timer);
      for (const name of tools.held.keys()) {
        await cli.run(["kill", name]);
        tools.held.get(name)?.drop();
      }
      tools.held.clear();
      tools.files.close();
    },
  };
}

interface Tools {
  readonly cli: DockerCli;
  readonly files: AnonymousFiles;
  readonly nameProtection: NameProtection;
  readonly setup: Setup;
  readonly log: Log;
  readonly clock: Clock;
  /** Protected names of existing containers; a placeholder must stay while it is mounted. */
  readonly held: Map<string, Held>;
  readonly live: Map<string, Live>;
}

/** The activity in a container. */
interface Live {
  /** The marks of running commands. */
  readonly marks: Set<string>;
  timer: NodeJS.Timeout | undefined;
  /** The last sweep; a command must not start before it ends, or it would be swept too. */
  sweeping: Promise<void> | undefined;
}

interface Held extends Pick<ProtectedWorkspace, "check" | "drop"> {
  readonly signature: string;
  /** A monotonic time. */
  seenAt: number;
}

async function probeDocker(cli: DockerCli): Promise<Works> {
  if (cli.program === undefined) return notWorking("docker is not installed", "apt-get install docker.io");
  const { code, out, errors } = await cli.run(["version", "--format", "{{.Server.Version}}"], 10_000);
  if (code === 0 && out.trim() !== "") return { works: true };
  const lastLine = errors.trim().split("\n").at(-1) ?? "";
  if (/permission denied/i.test(lastLine))
    return notWorking(`this user cannot use docker (${lastLine})`, "sudo usermod -aG docker $USER, then log in again");
  return notWorking(`the docker engine does not answer (${lastLine})`, "start it: sudo systemctl start docker");
}

const TERM = "xterm-256color";

function openSandbox(spec: SandboxSpec, tools: Tools): Sandbox {
  let building: Promise<void> | undefined;
  const known = tools.held.get(spec.name);
  // The sandbox was opened again, perhaps because another process removed it.
  if (known !== undefined) known.seenAt = Number.NEGATIVE_INFINITY;
  return {
    kind: "docker",
    name: spec.name,
    mounts: spec.mounts,
    workdir: spec.workdir,
    env: spec.container.env,
    gitWrite: spec.gitWrite,
    async launch(launch) {
      const live = liveIn(spec.name, tools);
      const mark = newSecret(8);
      // Registered before the first await; otherwise a sweep that starts meanwhile would end this command.
      live.marks.add(mark);
      clearTimeout(live.timer);
      try {
        await live.sweeping;
        building ??= ensureContainer(spec, tools).finally(() => {
          building = undefined;
        });
        await building;
        await tools.setup.ensure(spec, (setup) => hostLaunch(spec, tools, setup, newSecret(8)));
        return hostLaunch(spec, tools, launch, mark);
      } catch (error) {
        live.marks.delete(mark);
        throw error;
      }
    },
  };
}

function hostLaunch(spec: SandboxSpec, tools: Tools, launch: Launch, mark: string): HostLaunch {
  const { cli, files } = tools;
  const live = liveIn(spec.name, tools);
  live.marks.add(mark);
  const { promise: notes, resolve } = Promise.withResolvers<readonly string[]>();
  return {
    notes,
    argv: [
      cli.program ?? "docker",
      ...execArguments({
        name: spec.name,
        launch,
        mark,
        envFile: files.pathOf(envLines({ ...(launch.tty ? { TERM } : {}), ...launch.env })),
      }),
    ],
    cwd: "/",
    env: launch.tty ? { ...cli.env, TERM } : cli.env,
    gone() {
      live.marks.delete(mark);
      resolve(tools.held.get(spec.name)?.check() ?? []);
      if (live.marks.size > 0) return;
      live.timer = setTimeout(() => void sweep(spec.name, tools), IDLE_MS).unref();
    },
    async end() {
      live.marks.delete(mark);
      await sweep(spec.name, tools, mark);
    },
  };
}

function liveIn(name: string, { live }: Tools): Live {
  const known = live.get(name) ?? { marks: new Set(), timer: undefined, sweeping: undefined };
  live.set(name, known);
  return known;
}

/** Ends what a command left behind: all processes when no other command runs, otherwise those with its mark. */
function sweep(name: string, tools: Tools, mark?: string): Promise<void> {
  const live = liveIn(name, tools);
  clearTimeout(live.timer);
  const before = live.sweeping ?? Promise.resolve();
  const sweeping = before.then(async () => {
    const { code } = await tools.cli.run(killArguments(name, live.marks.size === 0 ? undefined : mark));
    if (code === 0) return;
    // The container may be too full to start the sweep, so it is killed and the next use starts it again.
    await tools.cli.run(["kill", name]);
    const entry = tools.held.get(name);
    if (entry !== undefined) entry.seenAt = Number.NEGATIVE_INFINITY;
  });
  live.sweeping = sweeping;
  return sweeping;
}

async function ensureContainer(spec: SandboxSpec, tools: Tools): Promise<void> {
  const { held, clock, nameProtection } = tools;
  const [workspace] = spec.mounts;
  if (workspace === undefined) throw new Error("a sandbox has a workspace");
  const isHome = spec.homes.includes(workspace.host);
  const options = { isHome, gitWrite: spec.gitWrite, hidden: spec.hidden };
  const known = held.get(spec.name);
  const isIdle = known !== undefined && liveIn(spec.name, tools).marks.size <= 1;
  let current = await nameProtection.protect(workspace.host, { ...options, idle: isIdle ? 1 : 0 });
  if (known?.signature === signatureOf(workspace.host, current.names) && clock.ticks() - known.seenAt < TRUST_MS) {
    current.drop();
    return;
  }
  // Processes of the old container could still replace files that were found, so names are read again after it is gone.
  const renew = async (): Promise<ReadonlyNames> => {
    known?.drop();
    current.drop();
    current = await nameProtection.protect(workspace.host, options);
    return current.names;
  };
  try {
    const isStale = known !== undefined && known.signature !== signatureOf(workspace.host, current.names);
    await bringUp(spec, tools, { names: current.names, isStale, renew });
  } catch (error) {
    current.drop();
    throw error;
  }
  known?.drop();
  const signature = signatureOf(workspace.host, current.names);
  held.set(spec.name, {
    signature,
    seenAt: clock.ticks(),
    drop: () => current.drop(),
    check: () => current.check(),
  });
}

interface MountState {
  readonly names: ReadonlyNames;
  /** True when the container has other files mounted than these names refer to now. */
  readonly isStale: boolean;
  readonly renew: () => Promise<ReadonlyNames>;
}

/** Identifies the files behind the protected names: a replaced file is no longer mounted and needs a new container. */
function signatureOf(workspace: string, { pinned, emptyFolders, readOnly }: ReadonlyNames): string {
  return [...pinned, ...[...emptyFolders, ...readOnly].sort()]
    .map((path) => `${path}:${lstatSync(join(workspace, path), { bigint: true }).ino}`)
    .join("|");
}

async function bringUp(spec: SandboxSpec, tools: Tools, { names, isStale, renew }: MountState): Promise<void> {
  const { cli, log } = tools;
  const { code, out } = await cli.run([
    "inspect",
    "--type",
    "container",
    "-f",
    `{{.State.Running}} {{index .Config.Labels "${SETTINGS_LABEL}"}} {{index .Config.Labels "${NAMES_LABEL}"}}`,
    spec.name,
  ]);
  const [running, hash, namesLabel] = out.trim().split(" ");
  const hasSameNames = namesLabel === namesHash(names) && !isStale;
  if (code === 0 && hash !== spec.settingsHash && hasSameNames && wasRecent(spec, tools)) {
    log.warn("the sandbox was used recently and keeps its old settings until it is recreated", {
      sandbox: spec.name,
      command: `openclaw sandbox recreate ${spec.scopeKey === "shared" ? "--all" : `--${spec.scopeKey.replace(":", " ")}`}`,
    });
    if (running !== "true") await must(cli, ["start", spec.name], spec);
    return;
  }
  const isCurrent = code === 0 && hash === spec.settingsHash && hasSameNames;
  if (isCurrent && running === "true") return;
  if (code === 0 && !isCurrent) await cli.run(["rm", "-f", "-v", spec.name]);
  if (!isCurrent) await createContainer(spec, tools, code === 0 ? await renew() : names);
  await must(cli, ["start", spec.name], spec);
}

function wasRecent({ lastUsedAt }: SandboxSpec, { clock }: Tools): boolean {
  return lastUsedAt !== undefined && clock.now() - lastUsedAt < RECENT_MS;
}

async function createContainer(spec: SandboxSpec, { cli, files }: Tools, names: ReadonlyNames): Promise<void> {
  mkdirSync(join(spec.folder, "home"), { recursive: true, mode: 0o700 });
  const env = containerEnv(spec.container);
  await must(cli, createArguments(spec, names, files.pathOf(envLines(env))), spec);
}

async function must(cli: DockerCli, dockerArgs: readonly string[], spec: SandboxSpec): Promise<void> {
  const { code, errors } = await cli.run(dockerArgs);
  if (code === 0) return;
  const lastLine = errors
    .trim()
    .replaceAll(/\s*\n\s*/g, " ")
    .slice(0, 600);
  const image = spec.container.image;
  if (/no such image|unable to find image|not found locally/i.test(errors)) {
    throw new OpenClawError("sandbox.no-image", `the sandbox image ${image} is not on this machine`, {
      hint: `docker pull ${image}, or for a plain one: docker pull debian:bookworm-slim && docker tag debian:bookworm-slim ${image}`,
    });
  }
  throw new OpenClawError("sandbox.failed", `docker ${dockerArgs[0]} failed: ${lastLine}`, {
    hint: `inspect it with: docker inspect ${spec.name}; then: openclaw sandbox recreate --all`,
  });
}

async function removeContainer(name: string, { cli, held, live }: Tools): Promise<void> {
  if (cli.program !== undefined) await cli.run(["rm", "-f", "-v", name]);
  held.get(name)?.drop();
  held.delete(name);
  clearTimeout(live.get(name)?.timer);
  live.delete(name);
}

async function listContainers(cli: DockerCli): Promise<Map<string, LiveStatus>> {
  if (cli.program === undefined) return new Map();
  const { out } = await cli.run(
    ["ps", "-a", "--filter", `label=${LABEL}`, "--format", "{{.Names}}\t{{.State}}\t{{.Image}}"],
    10_000,
  );
  return new Map(
    out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [name = "", state = "", image = ""] = line.split("\t");
        return [name, { running: state === "running", image }];
      }),
  );
}
