// The sandbox settings of one agent: its own values override the defaults key by key, and every default is filled in.
import { join } from "node:path";

import type { AgentId } from "../core/names.ts";
import type { SandboxBackend } from "../core/sandbox-backend.ts";
import { expandHome, type Paths } from "../base/paths.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";

type Given = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["sandbox"]>;
type GivenDocker = NonNullable<Given["docker"]>;

export type SandboxScope = "session" | "agent" | "shared";
export type WorkspaceAccess = "none" | "ro" | "rw";
export type BackendChoice = "auto" | SandboxBackend;

export interface SandboxSettings {
  readonly mode: "off" | "non-main" | "all";
  readonly backend: BackendChoice;
  readonly scope: SandboxScope;
  readonly workspaceAccess: WorkspaceAccess;
  /** True when commands may change the repositories of the workspace. */
  readonly gitWrite: boolean;
  /** An absolute path. */
  readonly workspaceRoot: string;
  readonly docker: ContainerSettings;
  readonly browser: SandboxBrowserSettings;
  /** 0 means never. */
  readonly prune: { readonly idleHours: number; readonly maxAgeDays: number };
}

export interface SandboxBrowserSettings {
  readonly enabled: boolean;
  /** False lets sandboxed sessions use only the browser of their sandbox. */
  readonly allowHostControl: boolean;
  /** False refuses calls until the browser was started with action=start. */
  readonly autoStart: boolean;
  readonly autoStartTimeoutMs: number;
}

export interface ContainerSettings {
  readonly image: string;
  readonly containerPrefix: string;
  readonly workdir: string;
  readonly readOnlyRoot: boolean;
  readonly tmpfs: readonly string[];
  readonly network: string;
  readonly user: string | undefined;
  readonly capDrop: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** One script; a list of lines is joined. */
  readonly setupCommand: string | undefined;
  readonly pidsLimit: number | undefined;
  readonly memory: string | number | undefined;
  readonly memorySwap: string | number | undefined;
  readonly cpus: number | undefined;
  readonly ulimits: Readonly<Record<string, Ulimit>>;
  readonly seccompProfile: string | undefined;
  readonly apparmorProfile: string | undefined;
  readonly dns: readonly string[];
  readonly extraHosts: readonly string[];
  readonly binds: readonly string[];
}

export type Ulimit = string | number | { readonly soft?: number | undefined; readonly hard?: number | undefined };

export function sandboxSettings(config: Config, agent: AgentId, paths: Paths): SandboxSettings {
  const defaults = config.agents?.defaults?.sandbox ?? {};
  const own = agentConfig(config, agent)?.sandbox ?? {};
  const scope = scopeOf(own) ?? scopeOf(defaults) ?? "agent";
  // A sandbox shared by all agents cannot follow the settings of one agent.
  const ownContainer = scope === "shared" ? {} : own;
  return {
    mode: own.mode ?? defaults.mode ?? "off",
    backend: own.backend ?? defaults.backend ?? "auto",
    scope,
    workspaceAccess: own.workspaceAccess ?? defaults.workspaceAccess ?? "none",
    gitWrite: own.gitWrite ?? defaults.gitWrite ?? false,
    workspaceRoot: expandHome(
      own.workspaceRoot ?? defaults.workspaceRoot ?? join(paths.state, "sandboxes"),
      paths.home,
    ),
    docker: containerOf(ownContainer.docker ?? {}, defaults.docker ?? {}),
    browser: browserOf({ ...defaults.browser, ...ownContainer.browser }),
    prune: {
      idleHours: ownContainer.prune?.idleHours ?? defaults.prune?.idleHours ?? 24,
      maxAgeDays: ownContainer.prune?.maxAgeDays ?? defaults.prune?.maxAgeDays ?? 7,
    },
  };
}

/** `perSession` is the older spelling; `scope` overrides it. */
function scopeOf({ scope, perSession }: Pick<Given, "scope" | "perSession">): SandboxScope | undefined {
  if (scope !== undefined) return scope;
  if (perSession === undefined) return undefined;
  return perSession ? "session" : "shared";
}

function browserOf(given: NonNullable<Given["browser"]>): SandboxBrowserSettings {
  return {
    enabled: given.enabled ?? false,
    allowHostControl: given.allowHostControl ?? false,
    autoStart: given.autoStart ?? true,
    autoStartTimeoutMs: given.autoStartTimeoutMs ?? 12_000,
  };
}

function containerOf(own: GivenDocker, defaults: GivenDocker): ContainerSettings {
  const { setupCommand, ...rest } = { ...defaults, ...own };
  return {
    image: rest.image ?? "openclaw-sandbox:bookworm-slim",
    containerPrefix: rest.containerPrefix ?? "openclaw-sbx-",
    workdir: rest.workdir ?? "/workspace",
    readOnlyRoot: rest.readOnlyRoot ?? true,
    tmpfs: rest.tmpfs ?? ["/tmp", "/var/tmp", "/run"],
    network: rest.network ?? "none",
    user: rest.user,
    capDrop: rest.capDrop ?? ["ALL"],
    env: { ...defaults.env, ...own.env },
    setupCommand: typeof setupCommand === "object" ? setupCommand.join("\n") : setupCommand,
    pidsLimit: rest.pidsLimit,
    memory: rest.memory,
    memorySwap: rest.memorySwap,
    cpus: rest.cpus,
    ulimits: { ...defaults.ulimits, ...own.ulimits },
    seccompProfile: rest.seccompProfile,
    apparmorProfile: rest.apparmorProfile,
    dns: rest.dns ?? [],
    extraHosts: rest.extraHosts ?? [],
    binds: [...new Set([...(defaults.binds ?? []), ...(own.binds ?? [])])],
  };
}
