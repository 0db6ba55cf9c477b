// Builds the arguments of bwrap: what a command sees, its user, and what it is isolated from.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { Launch, Mount } from "../sandbox.ts";
import { SANDBOX_HOME, etcFolder } from "./etc-copy.ts";
import { hiddenIn } from "./hidden-paths.ts";
import { withoutHidden, type ReadonlyNames } from "./readonly-names.ts";
import type { SandboxSpec } from "./spec.ts";
import { systemArguments } from "./system-arguments.ts";

/**
 * The arguments that are the same for every command of a sandbox; creates its private folders. `shared` holds what all
 * sandboxes use.
 */
export async function fixedArguments(spec: SandboxSpec, shared: string): Promise<string[]> {
  const [uid = "", gid = uid] = (spec.container.user ?? DEFAULT_USER).split(":");
  const own = join(spec.folder, "private");
  for (const name of ["tmp", "home/sandbox"]) mkdirSync(join(own, name), { recursive: true, mode: 0o700 });
  return [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-net",
    "--unshare-cgroup-try",
    "--die-with-parent",
    ...Object.entries({ uid, gid, hostname: "sandbox", "cap-drop": "ALL" }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]),
    ...systemArguments(),
    "--ro-bind",
    await etcFolder(shared, uid, gid),
    "/etc",
    // Home and temporary files outlast the command. Links replace mounts where possible, because each mount slows every
    // start.
    "--bind",
    own,
    "/private",
    ...Object.entries({ "/tmp": "private/tmp", "/var/tmp": "/private/tmp", "/home": "private/home" }).flatMap(
      ([link, target]) => ["--symlink", target, link],
    ),
    ...spec.container.tmpfs.filter((path) => !persistentFolders.has(path)).flatMap((path) => ["--tmpfs", path]),
    ...spec.mounts.flatMap(({ inside, host, writable }) => [writable ? "--bind" : "--ro-bind", host, inside]),
    ...spec.mounts.flatMap((mount) => hideArguments(mount, spec.hidden)),
  ];
}

const DEFAULT_USER = "1000:1000";
const persistentFolders: ReadonlySet<string> = new Set(["/tmp", "/var/tmp"]);

/** Replaces a folder by an empty one and a file by an empty device. */
function hideArguments(mount: Mount, hidden: readonly string[]): string[] {
  return hiddenIn(mount, hidden).flatMap(({ path, isFolder }) =>
    isFolder ? ["--perms", "0555", "--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path],
  );
}

export function readonlyNameArguments(
  { host, inside }: Mount,
  names: ReadonlyNames,
  hidden: readonly string[],
): string[] {
  const { pinned, emptyFolders, readOnly } = withoutHidden(names, host, hidden);
  return [
    ...pinned.flatMap((path) => ["--bind", join(host, path), join(inside, path)]),
    // An empty folder in memory costs a quarter of the time of a bind mount.
    ...emptyFolders.flatMap((path) => ["--perms", "0555", "--size", "4096", "--tmpfs", join(inside, path)]),
    ...readOnly.flatMap((path) => ["--ro-bind", join(host, path), join(inside, path)]),
    "--remount-ro",
    "/",
  ];
}

export function launchArguments({ env, cwd, tty }: Launch, spec: SandboxSpec): string[] {
  const usual = defaultEnv(tty);
  const { PATH: own, ...configured } = spec.container.env ?? {};
  // A configured PATH goes before the default one and does not replace it, as with a login profile in an image.
  const path = own === undefined ? {} : { PATH: `${own}:${usual["PATH"]}` };
  const all = { ...usual, ...configured, ...path, ...env };
  return [
    // With a terminal no new session is made, since it would lose the terminal's keys; the kernel filter prevents
    // typing into it.
    ...(tty ? [] : ["--new-session"]),
    "--clearenv",
    ...Object.entries(all).flatMap(([name, value]) => ["--setenv", withoutNul(name), withoutNul(value)]),
    "--chdir",
    withoutNul(cwd),
  ];
}

function defaultEnv(tty: boolean): Record<string, string> {
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: SANDBOX_HOME,
    USER: "sandbox",
    LOGNAME: "sandbox",
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    ...(tty ? { TERM: "xterm-256color" } : {}),
  };
}

function withoutNul(word: string): string {
  if (!word.includes("\0")) return word;
  throw new OpenClawError("sandbox.refused", "a variable or folder of the command contains a NUL character");
}
