// The /etc of bubblewrap boxes: harmless settings of this machine, copied once, and a few files written for the box.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { newSecret, sha256 } from "../../base/ids.ts";
import { placeholderFiles } from "./readonly-names.ts";

export const SANDBOX_HOME = "/home/sandbox";

/**
 * A copy, because every mount makes the start of every command slower. Named for what is in it: built when the machine's
 * settings change, shared by all boxes of one user id.
 */
export async function etcFolder(root: string, uid: string, gid: string): Promise<string> {
  const shown = settings.flatMap((name) => {
    const found = statSync(join("/etc", name), { throwIfNoEntry: false });
    return found !== undefined && (found.mode & 0o004) !== 0 ? [{ name, stamp: `${found.mtimeMs}:${found.size}` }] : [];
  });
  const own = ownFiles(uid, gid);
  const folder = join(root, `etc-${sha256(JSON.stringify([shown, own])).slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  const draft = join(root, `.etc-${newSecret(6)}`);
  mkdirSync(draft, { recursive: true, mode: 0o755 });
  await copyPublic(
    shown.map(({ name }) => name),
    draft,
  );
  for (const [name, text] of Object.entries(own)) writeFileSync(join(draft, name), text, { mode: 0o644 });
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!["EEXIST", "ENOTEMPTY"].includes(errnoOf(error) ?? "")) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
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
  "services",
  "shells",
  "ssl/cert.pem",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
  "vim",
];

/** By programs of the system: a thousand small files would hold up the gateway. What only root may read stays out. */
async function copyPublic(names: readonly string[], to: string): Promise<void> {
  // What cannot be read is left out by cp, which then says so by its exit code.
  await run("cp", ["-a", "--parents", "--", ...names, to]);
  await run("find", [to, "!", "-type", "l", "!", "-perm", "-o=r", "-delete"]);
}

function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: "/etc" }, () => resolve());
  });
}

function ownFiles(uid: string, gid: string): Record<string, string> {
  const user = uid === "0" ? "" : `sandbox:x:${uid}:${gid}:sandbox:${SANDBOX_HOME}:/bin/sh\n`;
  return {
    passwd: `root:x:0:0:root:/root:/bin/sh\n${user}nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`,
    group: `root:x:0:\n${gid === "0" ? "" : `sandbox:x:${gid}:\n`}nogroup:x:65534:\n`,
    hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
    hostname: "sandbox\n",
    // `git add -A` inside would take what only stands in for protected names.
    gitconfig: "[core]\n\texcludesFile = /etc/gitignore\n",
    gitignore: placeholderFiles()
      .map((name) => `/${name}\n`)
      .join(""),
    // The machine's own profile would set another PATH and run whatever is in /etc/profile.d.
    profile: `export PATH="\${PATH:-/usr/local/bin:/usr/bin:/bin}"\n`,
  };
}
