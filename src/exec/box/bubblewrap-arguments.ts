// The words for bwrap: what a command sees, who it is, and what it is cut off from.
import { lstatSync } from "node:fs";
import { join } from "node:path";

import { HouseError } from "../../core/error.ts";
import type { Launch, Mount } from "../box.ts";
import { BOX_HOME, DEFAULT_USER, ownArguments } from "./own-files.ts";
import { isWithin } from "./hidden.ts";
import type { Shield } from "./shield.ts";
import type { BoxSpec } from "./spec.ts";
import { systemArguments } from "./system-view.ts";

/** The part that is the same for every command of a box; makes the box's own files. */
export function fixedArguments(spec: BoxSpec): string[] {
  const user = spec.container.user ?? DEFAULT_USER;
  const [uid = "", gid = uid] = user.split(":");
  const kept = new Set(["/tmp", "/var/tmp"]);
  return [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-net",
    "--unshare-cgroup-try",
    "--disable-userns",
    "--die-with-parent",
    ...["--uid", uid, "--gid", gid, "--hostname", "sandbox", "--cap-drop", "ALL"],
    ...systemArguments(),
    ...spec.container.tmpfs.filter((path) => !kept.has(path)).flatMap((path) => ["--tmpfs", path]),
    ...ownArguments(spec.folder, user),
    ...spec.mounts.flatMap(({ inside, host, writable }) => [writable ? "--bind" : "--ro-bind", host, inside]),
    ...spec.mounts.flatMap((mount) => hideArguments(mount, spec.hidden)),
  ];
}

/** A folder becomes an empty one, a file an empty device: nothing to read, nothing to write. */
function hideArguments({ host, inside }: Mount, hidden: readonly string[]): string[] {
  return hidden
    .filter((path) => path !== host && isWithin(path, host))
    .flatMap((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found === undefined) return [];
      const place = join(inside, path.slice(host.length));
      if (found.isDirectory()) return ["--perms", "0555", "--tmpfs", place, "--remount-ro", place];
      return ["--ro-bind", "/dev/null", place];
    });
}

export function shieldArguments({ host, inside }: Mount, { pinned, readOnly }: Shield): string[] {
  return [
    ...pinned.flatMap((path) => ["--bind", join(host, path), join(inside, path)]),
    ...readOnly.flatMap((path) => ["--ro-bind", join(host, path), join(inside, path)]),
  ];
}

export function launchArguments({ env, cwd, tty }: Launch, spec: BoxSpec): string[] {
  const all = { ...defaultEnv(tty), ...spec.container.env, ...env };
  return [
    // A session of its own would take the terminal's keys away; there the kernel filter forbids typing into it.
    ...(tty ? [] : ["--new-session"]),
    "--clearenv",
    ...Object.entries(all).flatMap(([name, value]) => ["--setenv", sound(name), sound(value)]),
    "--chdir",
    sound(cwd),
  ];
}

function defaultEnv(tty: boolean): Record<string, string> {
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: BOX_HOME,
    USER: "sandbox",
    LOGNAME: "sandbox",
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    ...(tty ? { TERM: "xterm-256color" } : {}),
  };
}

function sound(word: string): string {
  if (!word.includes("\0")) return word;
  throw new HouseError("sandbox.refused", "a variable or folder of the command holds a NUL character");
}
