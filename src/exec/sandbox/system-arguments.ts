// The bwrap arguments for the system part of a sandbox: programs, libraries, harmless devices, its own /proc.
import { existsSync, lstatSync, readlinkSync } from "node:fs";

/** The read-only system folders. */
export function systemArguments(): string[] {
  return [
    ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap(showFolder),
    "--proc",
    "/proc",
    ...controlFileArguments(),
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
 * Control files in /proc check only the user id, and for a root gateway that is the real root even without
 * capabilities: /proc/sys/kernel/core_pattern would be a way out. They become read-only.
 */
export function controlFileArguments(): string[] {
  if (process.getuid?.() !== 0) return [];
  return ["/proc/sys", "/proc/sysrq-trigger", "/proc/acpi/wakeup", "/proc/scsi/scsi"]
    .filter((path) => existsSync(path))
    .flatMap((path) => ["--ro-bind", path, path]);
}
