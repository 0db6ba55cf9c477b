// What a bubblewrap box shows of this machine: programs and libraries, devices without power, its own processes.
import { existsSync, lstatSync, readlinkSync } from "node:fs";

/** Arguments of bwrap for the read-only system. Looked up once: it does not change under a running gateway. */
export function systemArguments(): string[] {
  return [
    ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap(showFolder),
    "--proc",
    "/proc",
    ...steeringArguments(),
    "--dev",
    "/dev",
  ];
}

function showFolder(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

/**
 * Files of /proc that steer the whole machine. They ask for the user id only, and in a box of root's gateway that is the
 * real root, capabilities or not: /proc/sys/kernel/core_pattern would be a way out.
 */
export function steeringArguments(): string[] {
  if (process.getuid?.() !== 0) return [];
  return ["/proc/sys", "/proc/sysrq-trigger", "/proc/acpi/wakeup", "/proc/scsi/scsi"]
    .filter((path) => existsSync(path))
    .flatMap((path) => ["--ro-bind", path, path]);
}
