// The files a bubblewrap box has of its own: home, temporary files, and the few settings written for it.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const BOX_HOME = "/home/sandbox";
export const DEFAULT_USER = "1000:1000";

/** Makes what is missing below the box's folder; gives the arguments of bwrap that show it. */
export function ownArguments(folder: string, user: string): string[] {
  const [uid = "1000", gid = uid] = user.split(":");
  const places = { home: BOX_HOME, tmp: "/tmp", "var-tmp": "/var/tmp" };
  for (const name of [...Object.keys(places), "etc"]) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  const files: Record<string, string> = {
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\n${uid === "0" ? "" : `sandbox:x:${uid}:${gid}:sandbox:${BOX_HOME}:/bin/sh\n`}nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    group: `root:x:0:\n${gid === "0" ? "" : `sandbox:x:${gid}:\n`}nogroup:x:65534:\n`,
    hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
    hostname: "sandbox\n",
    // The machine's own profile would set another PATH and run whatever is in /etc/profile.d.
    profile: `export PATH="\${PATH:-/usr/local/bin:/usr/bin:/bin}"\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "etc", name), text, { mode: 0o644 });
  return [
    ...Object.entries(places).flatMap(([name, inside]) => ["--bind", join(folder, name), inside]),
    ...readdirSync(join(folder, "etc")).flatMap((name) => ["--ro-bind", join(folder, "etc", name), `/etc/${name}`]),
  ];
}
