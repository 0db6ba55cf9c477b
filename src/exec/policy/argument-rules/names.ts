// Finds the names that a program is known by, so that the rules for python also cover python3.11.
import { basename } from "node:path";

import aliasData from "../data/program-aliases.json" with { type: "json" };

const aliases: Readonly<Record<string, string>> = aliasData;

/** In lower case, without version, variant and cross-compiler prefix. */
export function familyNames(path: string): readonly string[] {
  const name = basename(path)
    .toLowerCase()
    .replace(/\.exe$|-static$|-multiarch$/, "");
  const bare = name.replace(
    /\.(?:basic|tiny|nox|athena|gtk\d?|distrib|wrapped|orig|bin|real|traditional|openbsd|mailutils|heirloom|nmap|mjs)$/,
    "",
  );
  const unversioned = bare.replace(/[-_.]?v?\d[\d.]*(?:[a-z]|-config)?$/, "");
  // perl5.36-x86_64-linux-gnu, php8.2-cgi: the name ends where the version begins.
  const stem = /^([a-z+]{2,}?)[-_.]?\d/.exec(bare)?.[1] ?? bare;
  const last = unversioned.split("-").at(-1) ?? "";
  const loader = /^ld(?:-linux.*|-musl.*|64)?\.so(?:\.\d+)*$|^ld-.*\.so(?:\.\d+)*$/.test(name) ? ["ld.so"] : [];
  const cross = /^(?:gcc|g\+\+|cpp|cc|c\+\+|clang|clang\+\+|ld|ar|as|nm)$/.test(last) ? [last] : [];
  // x86_64-linux-gnu-gprofng is gprofng.
  const native = unversioned.replace(/^[a-z0-9_]+-(?:[a-z0-9_]+-)*?(?:gnu|musl|(?:gnu|musl)?eabi|elf|mingw)\w*-/, "");
  const runner = /^qemu-(?!img|nbd|io|ga)/.test(name) ? ["qemu-user"] : name.startsWith("git-") ? ["git-shell"] : [];
  // Only in system folders: a user can have a program of their own named update-notes.
  const administers = /^\/(?:usr\/)?s?bin\/(?:dpkg-(?!query$)|update-|deb-systemd-|xdg-|s6-)/.test(path)
    ? ["service"]
    : [];
  // busybox.nosuid, toybox-x86_64, nvim.appimage, docker-buildx: a variant or a part of the same program.
  const part = /^(busybox|toybox|n?vim|emacs|docker|podman|kubectl)[-._]/.exec(name)?.slice(1) ?? [];
  const all = [name, ...runner, ...administers, ...part, bare, unversioned, native, stem, ...cross, ...loader];
  return [...new Set(all.flatMap((one) => [one, aliases[one] ?? one]))];
}
