// Decides which sandbox a session has (name, folders, mounts, backend) and lists, recreates and prunes sandboxes.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import type { AgentId } from "../core/names.ts";
import type { Clock } from "../base/clock.ts";
import { sha256 } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { Lru } from "../base/lru.ts";
import type { Env, Paths } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import { approvalsPath } from "./policy/file.ts";
import type { Sandbox, Mount } from "./sandbox.ts";
import { parseBind } from "./sandbox/bind-rules.ts";
import { checkContainer } from "./sandbox/container-rules.ts";
import { createBackends } from "./sandbox/backends.ts";
import { canonicalPath, credentialPaths, isWithin } from "./sandbox/hidden-paths.ts";
import {
  hasRecord,
  readRecord,
  readRecords,
  removeSandboxFolder,
  touchRecord,
  writeRecord,
  type UsedRecord,
} from "./sandbox/record.ts";
import { scopeKeyOf, slugOf, type Who } from "./sandbox/scope.ts";
import type { Backend, SandboxSpec } from "./sandbox/spec.ts";
import { chooseBackend } from "./sandbox/choose-backend.ts";
import { sandboxPaths, type SandboxPaths } from "./sandbox-paths.ts";
import { sandboxSettings, type SandboxSettings } from "./sandbox-settings.ts";

export interface SandboxesDeps {
  readonly paths: Paths;
  /** The gateway's environment: PATH and DOCKER_HOST are used, but no variable is passed inside. */
  readonly env: Env;
  config(): Config;
  readonly log: Log;
  readonly clock: Clock;
  /** An absolute path. */
  workspaceOf(agent: AgentId): string;
}

export interface ListedSandbox extends UsedRecord {
  readonly running: boolean;
  /** True when the sandbox was built with the current settings. */
  readonly matchesConfig: boolean;
  readonly hasBrowser: boolean;
}

export type SandboxFilter = { readonly all: true } | { readonly session: string } | { readonly agent: string };

export interface Sandboxes {
  /** The sandbox of a sandboxed session. Throws `sandbox.unavailable` or `sandbox.refused`; never returns the host. */
  of(who: Who): Promise<Sandbox>;
  /**
   * The place for a browser of a sandboxed session: beside its commands, without its workspace. Always bubblewrap, which
   * can show it two sockets instead of a network. Throws as `of`.
   */
  browserOf(who: Who): Promise<BrowserSandbox>;
  /** Needs no backend and creates no files. */
  pathsOf(who: Who): SandboxPaths;
  list(): Promise<ListedSandbox[]>;
  /** Removes sandboxes or only their browsers; the next use builds them again. Workspaces stay. Returns the names. */
  recreate(filter: SandboxFilter, part?: "browser"): Promise<string[]>;
  /** Removes sandboxes that were idle or existed for too long. Returns the names. */
  prune(): Promise<string[]>;
  close(): Promise<void>;
}

export interface BrowserSandbox {
  readonly name: string;
  /** Private to this browser; removed with the sandbox of its session. */
  readonly folder: string;
  /** Nothing of the host is visible inside but system programs and these mounts; there is no network. */
  open(mounts: readonly Mount[]): Sandbox;
}

const TOUCH_EVERY_MS = 30_000;
/** Paths are resolved again after this time, because a link in a mount may have changed. */
const SPEC_TRUST_MS = 2000;

export function createSandboxes(deps: SandboxesDeps): Sandboxes {
  const { paths, log, clock } = deps;
  const root = join(paths.state, "boxes");
  const backends = createBackends({ folder: root, env: deps.env, log, clock });
  const opened = new Map<string, Opened>();
  const specs = new Lru<{ readonly config: Config; readonly at: number; readonly value: Specified }>(256);

  /** A spec needs about two dozen file system lookups, so it is cached briefly while the config is the same. */
  const specified = (who: Who): Specified => {
    const key = `${who.agent}\0${who.session}`;
    const known = specs.get(key);
    const now = clock.ticks();
    if (known !== undefined && known.config === deps.config() && now - known.at < SPEC_TRUST_MS) return known.value;
    const value = specFor(who, deps, root);
    specs.set(key, { config: deps.config(), at: now, value });
    return value;
  };

  const browserFolder = (name: string): string => join(root, name, "browser");
  const hasBrowser = ({ name }: UsedRecord): boolean => existsSync(browserFolder(name));

  const take = async (record: UsedRecord): Promise<string> => {
    for (const key of opened.keys()) if (key.startsWith(`${record.name}\0`)) opened.delete(key);
    await backends.all.find(({ kind }) => kind === record.backend)?.remove(record.name);
    removeSandboxFolder(join(root, record.name));
    return record.name;
  };
  const takeAll = async (records: readonly UsedRecord[]): Promise<string[]> => {
    const names: string[] = [];
    for (const record of records) names.push(await take(record));
    return names;
  };

  const of = async (who: Who): Promise<Sandbox> => {
    const { spec, settings } = specified(who);
    const backend = await chooseBackend(settings, backends.all);
    backend.check(spec);
    const key = [spec.name, backend.kind, spec.settingsHash].join("\0");
    const known = (): Opened | undefined => (hasRecord(spec.folder) ? opened.get(key) : undefined);
    if (known() === undefined) {
      const { seedWorkspace } = await import("./sandbox/seed-workspace.ts");
      await seedWorkspace(who, settings, deps.workspaceOf(who.agent), log);
    }
    // Checked again: another call may have opened it meanwhile, and two calls would build the same sandbox.
    const entry = known() ?? {
      sandbox: openSandbox(who, spec, settings, backend, root, clock.now()),
      touchedAt: clock.now(),
    };
    opened.set(key, entry);
    if (clock.now() - entry.touchedAt > TOUCH_EVERY_MS) {
      entry.touchedAt = clock.now();
      touchRecord(spec.folder, entry.touchedAt);
    }
    return entry.sandbox;
  };

  return {
    of,
    async browserOf(who) {
      const { spec, settings } = specified(who);
      const backend = await chooseBackend({ backend: "bubblewrap", docker: settings.docker }, backends.all);
      await of(who);
      const own = { name: `${spec.name}-browser`, folder: browserFolder(spec.name) };
      return {
        ...own,
        open: (mounts) => backend.open({ ...spec, ...own, ...browserSpec(settings, own.folder, mounts) }),
      };
    },
    pathsOf(who) {
      const settings = sandboxSettings(deps.config(), who.agent, paths);
      return sandboxPaths(who, settings, deps.workspaceOf(who.agent));
    },
    async list() {
      const liveStatus = new Map(
        (await Promise.all(backends.all.map((backend) => backend.liveStatus()))).flatMap((some) => [...some]),
      );
      return readRecords(root).map((record) => ({
        ...record,
        running: liveStatus.get(record.name)?.running ?? false,
        matchesConfig: hashNow(record, deps, root) === record.settingsHash,
        hasBrowser: hasBrowser(record),
      }));
    },
    async recreate(filter, part) {
      const meant = readRecords(root).filter((record) => isMeant(record, filter));
      if (part === undefined) return takeAll(meant);
      const names = meant.filter(hasBrowser).map(({ name }) => name);
      for (const name of names) removeSandboxFolder(browserFolder(name));
      return names;
    },
    prune: () => takeAll(readRecords(root).filter((record) => isOver(record, deps))),
    async close() {
      opened.clear();
      await backends.close();
    },
  };
}

/** A browser counts each thread of its tabs as a process. */
const BROWSER_PIDS = 8192;

function browserSpec(
  { docker }: SandboxSettings,
  folder: string,
  mounts: readonly Mount[],
): Pick<SandboxSpec, "mounts" | "hidden" | "container" | "homes"> {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  return {
    mounts: [{ inside: docker.workdir, host: workspace, writable: false }, ...mounts],
    hidden: [],
    homes: [],
    container: {
      ...docker,
      network: "none",
      user: undefined,
      binds: [],
      env: {},
      setupCommand: undefined,
      pidsLimit: BROWSER_PIDS,
    },
  };
}

interface Opened {
  readonly sandbox: Sandbox;
  touchedAt: number;
}

interface Specified {
  readonly spec: SandboxSpec;
  readonly settings: SandboxSettings;
}

function specFor(who: Who, deps: SandboxesDeps, root: string): Specified {
  const { paths } = deps;
  const settings = sandboxSettings(deps.config(), who.agent, paths);
  const ownPaths = sandboxPaths(who, settings, deps.workspaceOf(who.agent));
  const scopeKey = scopeKeyOf(settings.scope, who);
  // A sandbox that shows one agent's workspace cannot be shared by all agents.
  const identity =
    settings.scope === "shared" && settings.workspaceAccess !== "none" ? `${scopeKey}:${who.agent}` : scopeKey;
  // Containers and control groups are global on a machine, so gateways with different state folders use different
  // names.
  const name = `${settings.docker.containerPrefix}${slugOf(identity, paths.state)}`;
  const hidden = hiddenPaths(deps);
  checkContainer(settings.docker);
  const mounts = mountsOf(ownPaths, settings, hidden, paths);
  return {
    settings,
    spec: {
      name,
      scopeKey,
      folder: join(root, name),
      mounts,
      workdir: settings.docker.workdir,
      hidden,
      homes: [paths.home, deps.env["HOME"] ?? paths.home].map(canonicalPath),
      gitWrite: settings.gitWrite,
      container: settings.docker,
      settingsHash: sha256(JSON.stringify([settings.docker, settings.workspaceAccess, mounts])).slice(0, 16),
      lastUsedAt: undefined,
    },
  };
}

function hiddenPaths({ paths, env }: SandboxesDeps): string[] {
  const homes = new Set([paths.home, env["HOME"] ?? paths.home]);
  const states = [...homes].flatMap((home) => [join(home, ".openclaw"), join(home, ".moltbot")]);
  return [
    ...new Set(
      [paths.state, paths.config, approvalsPath(paths.state), ...states, ...[...homes].flatMap(credentialPaths)].map(
        canonicalPath,
      ),
    ),
  ];
}

function mountsOf(
  { workspace, agentWorkspace }: SandboxPaths,
  { docker }: SandboxSettings,
  hidden: readonly string[],
  paths: Paths,
): Mount[] {
  const own: Mount[] = [
    { inside: docker.workdir, host: canonicalPath(workspace), writable: true },
    ...(agentWorkspace === undefined
      ? []
      : [{ inside: "/agent", host: canonicalPath(agentWorkspace), writable: false }]),
  ];
  const state = canonicalPath(paths.state);
  for (const { host } of own) {
    const closed = hidden.find(
      (path) => host === path || (path !== state && isWithin(host, path) && !isWithin(host, state)),
    );
    if (closed === undefined && host !== "/") continue;
    throw new OpenClawError(
      "sandbox.refused",
      `${host} cannot be the workspace of a sandbox: it is ${closed ?? "the whole disk"}`,
      {
        hint: "choose a folder of its own: openclaw config set agents.defaults.workspace <folder>",
      },
    );
  }
  const context = { home: paths.home, hidden, taken: own.map(({ inside }) => inside) };
  return [...own, ...docker.binds.map((bind) => parseBind(bind, context))];
}

function openSandbox(
  who: Who,
  spec: SandboxSpec,
  settings: SandboxSettings,
  backend: Backend,
  root: string,
  nowMs: number,
): Sandbox {
  const [workspace] = spec.mounts;
  mkdirSync(root, { recursive: true, mode: 0o700 });
  for (const { host } of spec.mounts.slice(0, 2)) mkdirSync(host, { recursive: true, mode: 0o700 });
  const known = readRecord(spec.folder);
  writeRecord(spec.folder, {
    name: spec.name,
    backend: backend.kind,
    scopeKey: spec.scopeKey,
    agent: who.agent,
    session: who.session,
    workspace: workspace?.host ?? "",
    ownsWorkspace: settings.workspaceAccess !== "rw",
    image: backend.kind === "docker" ? spec.container.image : "",
    settingsHash: spec.settingsHash,
    createdAt: known?.createdAt ?? nowMs,
  });
  return backend.open({ ...spec, lastUsedAt: known?.lastUsedAt });
}

function hashNow(record: UsedRecord, deps: SandboxesDeps, root: string): string | undefined {
  try {
    return specFor({ agent: record.agent as Who["agent"], session: record.session as Who["session"] }, deps, root).spec
      .settingsHash;
  } catch (error) {
    if (error instanceof OpenClawError) return undefined;
    throw error;
  }
}

function isMeant(record: UsedRecord, filter: SandboxFilter): boolean {
  if ("all" in filter) return true;
  if ("agent" in filter) return record.agent === filter.agent && record.scopeKey !== "shared";
  return record.scopeKey === `session:${filter.session}` || record.session === filter.session;
}

function isOver({ agent, lastUsedAt, createdAt }: UsedRecord, deps: SandboxesDeps): boolean {
  const { idleHours, maxAgeDays } = sandboxSettings(deps.config(), agent as AgentId, deps.paths).prune;
  const now = deps.clock.now();
  const isIdle = idleHours > 0 && now - lastUsedAt > idleHours * 3_600_000;
  return isIdle || (maxAgeDays > 0 && now - createdAt > maxAgeDays * 86_400_000);
}
