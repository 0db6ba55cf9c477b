// Paths of home, state folder and config file, by environment and profile.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

export type Env = Readonly<Record<string, string | undefined>>;

export interface Paths {
  readonly home: string;
  readonly state: string;
  readonly config: string;
  /** `openclaw`, or `moltbot` when an older installation is used instead. */
  readonly product: "openclaw" | "moltbot";
  readonly profile: string | undefined;
}

/** One line for people when an older installation is used (docs/decisions/0002-older-names-keep-working.md). */
export function describeLegacy(paths: Paths): string | undefined {
  if (paths.product === "openclaw") return undefined;
  return `using the older installation in ${paths.state} unchanged (to switch: OPENCLAW_STATE_DIR=~/.openclaw)`;
}

export function resolvePaths(env: Env, profileFlag?: string): Paths {
  const home = homeOf(env);
  const profile = cleanProfile(profileFlag ?? env["OPENCLAW_PROFILE"]);
  const suffix = profile === undefined ? "" : `-${profile}`;
  const explicitState = env["OPENCLAW_STATE_DIR"];
  const explicitConfig = env["OPENCLAW_CONFIG_PATH"];
  const ours = explicitState ? expandHome(explicitState, home) : join(home, `.openclaw${suffix}`);
  const older = join(home, ".moltbot");
  const useOlder = !explicitState && !explicitConfig && suffix === "" && !existsSync(ours) && existsSync(older);
  const state = useOlder ? older : ours;
  return {
    home,
    state,
    config: explicitConfig ? expandHome(explicitConfig, home) : configIn(state),
    product: useOlder ? "moltbot" : "openclaw",
    profile,
  };
}

/** `~` and `~/x` become absolute; relative paths resolve against the working directory. */
export function expandHome(path: string, home: string): string {
  const expanded = expandTilde(path, home);
  return isAbsolute(expanded) ? expanded : resolve(expanded);
}

/** `~` and `~/x` become absolute; every other path stays as it is. */
export function expandTilde(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? join(home, path.slice(2)) : path;
}

/** The short form for people. */
export function shortenHome(path: string, home: string): string {
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function configIn(state: string): string {
  const ours = join(state, "openclaw.json");
  const older = join(state, "moltbot.json");
  return !existsSync(ours) && existsSync(older) ? older : ours;
}

function homeOf(env: Env): string {
  const fallback = env["HOME"] || env["USERPROFILE"] || homedir();
  const override = env["OPENCLAW_HOME"];
  return override ? expandHome(override, fallback) : fallback;
}

function cleanProfile(raw: string | undefined): string | undefined {
  const name = raw?.trim().toLowerCase();
  if (name === undefined || name === "" || name === "default") return undefined;
  return name.replaceAll(/[^a-z0-9_-]/g, "-");
}
