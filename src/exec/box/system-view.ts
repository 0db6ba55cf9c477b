// What a bubblewrap box shows of this machine: programs and libraries, a few harmless settings, nothing else.
import { lstatSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";

/** Arguments of bwrap for the read-only system. Looked up once: it does not change under a running gateway. */
export function systemArguments(): string[] {
  return [
    ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap(showFolder),
    "--dir",
    "/etc",
    ...settings.filter(isPublic).flatMap((path) => ["--ro-bind", path, path]),
    "--proc",
    "/proc",
    ...processArguments(),
    "--dev",
    "/dev",
  ];
}

/**
 * Settings that programs need and that say nothing about this machine's people. The rest of /etc holds password hashes,
 * keys and tokens, and a gateway that runs as root could read them all.
 */
const settings: readonly string[] = [
  "alternatives",
  "bash.bashrc",
  "ca-certificates",
  "ca-certificates.conf",
  "crypto-policies",
  "debian_version",
  "fonts",
  "inputrc",
  "java",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "lsb-release",
  "magic",
  "mime.types",
  "nanorc",
  "nsswitch.conf",
  "os-release",
  "perl",
  "pki/ca-trust",
  "pki/tls/certs",
  "protocols",
  "python3",
  "python3.11",
  "services",
  "shells",
  "ssl/cert.pem",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
  "vim",
].map((name) => join("/etc", name));

/** There, and readable for everybody: what only root may read stays out. */
function isPublic(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & 0o004) !== 0;
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
function processArguments(): string[] {
  const steering = ["sys", "sysrq-trigger", "irq", "bus", "acpi", "scsi", "fs", "mtrr", "pressure"];
  const telling = ["kcore", "keys", "key-users", "kmsg", "latency_stats", "sched_debug", "timer_list", "config.gz"];
  const at = (name: string): string => join("/proc", name);
  const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return [
    ...steering
      .map(at)
      .filter(isThere)
      .flatMap((path) => ["--ro-bind", path, path]),
    ...telling
      .map(at)
      .filter(isThere)
      .flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
}
