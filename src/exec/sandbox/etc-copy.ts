// Builds the /etc of bubblewrap sandboxes: harmless settings of this machine, plus a few files written for the sandbox.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { newSecret, sha256 } from "../../base/ids.ts";
import { placeholderFiles } from "./readonly-names.ts";

export const SANDBOX_HOME = "/home/sandbox";

/**
 * A copy, because every mount slows the start of every command. Named by its content: built again when the settings
 * change, shared by all sandboxes of one user id.
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
 * Settings that programs need and that contain no personal data. The rest of /etc holds password hashes, keys and
 * tokens, which a gateway running as root could read.
 */
const settings: readonly string[] = [
  "alternatives",
  "bash.bashrc",
  "ca-certificates",
  "ca-certificates.conf",
  "chromium",
  "chromium.d",
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
  "opt/chrome",
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

/**
 * Uses system programs, because copying a thousand small files would block the gateway. Files that only root can read
 * are removed.
 */
async function copyPublic(names: readonly string[], to: string): Promise<void> {
  // cp skips unreadable files and reports them by its exit code, which is ignored.
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
    // Without this, `git add -A` inside would add the placeholders for protected names.
    gitconfig: "[core]\n\texcludesFile = /etc/gitignore\n",
    gitignore: placeholderFiles()
      .map((name) => `/${name}\n`)
      .join(""),
    // The machine's own profile would set another PATH and run /etc/profile.d.
    profile: `export PATH="\${PATH:-/usr/local/bin:/usr/bin:/bin}"\n`,
  };
}
