// Builds the arguments of docker: creating a container and starting commands in it.
import { join } from "node:path";

import { sha256 } from "../../base/ids.ts";
import type { Launch, Mount } from "../sandbox.ts";
import type { ContainerSettings } from "../sandbox-settings.ts";
import { hiddenIn } from "./hidden-paths.ts";
import { limitsOf, softAndHard } from "./limits.ts";
import { withoutHidden, type ReadonlyNames } from "./readonly-names.ts";
import type { SandboxSpec } from "./spec.ts";

export const LABEL = "openclaw.sandbox";
export const SETTINGS_LABEL = "openclaw.sandbox.settings";
/** Records which names were read-only when the container was created, because its mounts do not change later. */
export const NAMES_LABEL = "openclaw.sandbox.shield";
/** Marks every process of one command, so that they can be found and ended. */
const RUN_MARK = "OPENCLAW_SANDBOX_RUN";
const HOME = "/home/sandbox";

/** Waits forever and reaps orphaned processes, because an image may lack an init. */
const firstProcess = ["/bin/sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 86400 & wait; done"];

export function createArguments(spec: SandboxSpec, names: ReadonlyNames, envFile: string): string[] {
  const { container } = spec;
  const option = (name: string, values: readonly (string | number | undefined)[]): string[] =>
    values.flatMap((value) => (value === undefined ? [] : [`--${name}`, String(value)]));
  return [
    "create",
    ...option("pull", ["never"]),
    ...option("name", [spec.name]),
    ...option("label", [
      `${LABEL}=${spec.scopeKey}`,
      `${SETTINGS_LABEL}=${spec.settingsHash}`,
      `${NAMES_LABEL}=${namesHash(names)}`,
    ]),
    ...option("hostname", ["sandbox"]),
    ...option("network", [container.network]),
    ...option("user", [container.user ?? ownUser()]),
    ...option("workdir", [container.workdir]),
    ...option("cap-drop", container.capDrop),
    ...option("security-opt", securityOptions(container)),
    ...option("ipc", ["private"]),
    ...option("log-driver", ["none"]),
    ...option("dns", container.dns),
    ...option("add-host", container.extraHosts),
    ...(container.readOnlyRoot ? ["--read-only"] : []),
    ...limitArguments(container),
    ...option("env-file", [envFile]),
    ...option("mount", mountArguments(spec, names)),
    "--entrypoint",
    "",
    container.image,
    ...firstProcess,
  ];
}

export const namesHash = ({ pinned, emptyFolders, readOnly }: ReadonlyNames): string =>
  sha256(JSON.stringify([pinned, [...emptyFolders, ...readOnly].sort()])).slice(0, 16);

/** Files that a command creates belong to the user who runs the gateway. */
function ownUser(): string {
  return `${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`;
}

function securityOptions({ seccompProfile, apparmorProfile }: ContainerSettings): string[] {
  return [
    "no-new-privileges",
    ...(seccompProfile === undefined ? [] : [`seccomp=${seccompProfile}`]),
    ...(apparmorProfile === undefined ? [] : [`apparmor=${apparmorProfile}`]),
  ];
}

function limitArguments(container: ContainerSettings): string[] {
  const limits = limitsOf(container);
  const half = Math.floor(limits.memoryBytes / 2);
  return [
    `--pids-limit=${limits.pids}`,
    `--memory=${limits.memoryBytes}`,
    `--memory-swap=${limits.memorySwapBytes}`,
    ...(limits.cpus === undefined ? [] : ["--cpus", String(limits.cpus)]),
    ...Object.entries(limits.process).flatMap(([name, limit]) => [
      "--ulimit",
      `${name}=${softAndHard(name, limit).join(":")}`,
    ]),
    ...container.tmpfs.flatMap((place) => [
      "--tmpfs",
      place.includes(":") ? place : `${place}:rw,exec,nosuid,nodev,mode=1777,size=${half}`,
    ]),
  ];
}

function mountArguments(spec: SandboxSpec, given: ReadonlyNames): string[] {
  const [workspace] = spec.mounts;
  const names = withoutHidden(given, workspace?.host ?? "", spec.hidden);
  const within = (path: string): { host: string; inside: string } => ({
    host: join(workspace?.host ?? "", path),
    inside: join(workspace?.inside ?? "", path),
  });
  return [
    bind({ host: join(spec.folder, "home"), inside: HOME, writable: true }),
    ...spec.mounts.map(bind),
    ...names.pinned.map((path) => bind({ ...within(path), writable: true })),
    ...[...names.emptyFolders, ...names.readOnly].map((path) => bind({ ...within(path), writable: false })),
    ...spec.mounts.flatMap((mount) => hide(mount, spec.hidden)),
  ];
}

function bind({ host, inside, writable }: Mount): string {
  return fields(["type=bind", `source=${host}`, `target=${inside}`, ...(writable ? [] : ["readonly"])]);
}

function hide(mount: Mount, hidden: readonly string[]): string[] {
  return hiddenIn(mount, hidden).map(({ path, isFolder }) =>
    isFolder
      ? fields(["type=tmpfs", `target=${path}`, "tmpfs-mode=0555", "tmpfs-size=4096"])
      : bind({ host: "/dev/null", inside: path, writable: false }),
  );
}

/** Docker parses this as a CSV line. */
function fields(values: readonly string[]): string {
  return values.map((value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(",");
}

export interface ExecArguments {
  readonly name: string;
  readonly launch: Launch;
  readonly mark: string;
  readonly envFile: string;
}

export function execArguments({ name, launch, mark, envFile }: ExecArguments): string[] {
  return [
    "exec",
    launch.tty ? "-it" : "-i",
    `--workdir=${launch.cwd}`,
    `--env-file=${envFile}`,
    `--env=${RUN_MARK}=${mark}`,
    // An env file holds one variable per line, so values with newlines go here.
    ...manyLined(launch.env).flatMap(([variable, value]) => ["-e", `${variable}=${value}`]),
    name,
    ...launch.argv,
  ];
}

const manyLined = (env: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(env).filter(([, value]) => /[\r\n]/.test(value));

/** For `--env-file`, so that values are not on a command line that every user can read. */
export function envLines(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .filter(([, value]) => !/[\r\n]/.test(value))
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

export const containerEnv = (container: ContainerSettings): Record<string, string> => ({
  HOME,
  LANG: "C.UTF-8",
  ...container.env,
});

/** Kills every process with the mark, or all processes of the container when no other command runs in it. */
export function killArguments(name: string, mark: string | undefined): string[] {
  const one = `while :; do found=; for d in /proc/[0-9]*; do if tr '\\0' '\\n' 2>/dev/null <"$d/environ" | grep -qx "${RUN_MARK}=$1"; then kill -9 "\${d#/proc/}" 2>/dev/null && found=1; fi; done; [ -n "$found" ] || exit 0; done`;
  return ["exec", name, "/bin/sh", "-c", ...(mark === undefined ? ["kill -9 -1"] : [one, "sh", mark])];
}
