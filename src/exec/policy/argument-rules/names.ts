// The names a program goes by, so that python3.11, nodejs and vim.basic are what they are.
import { basename } from "node:path";

const aliases: Readonly<Record<string, string>> = {
  nodejs: "node",
  gawk: "awk",
  mawk: "awk",
  nawk: "awk",
  "original-awk": "awk",
  goawk: "awk",
  gsed: "sed",
  ssed: "sed",
  gtar: "tar",
  bsdtar: "tar",
  gfind: "find",
  gmake: "make",
  bmake: "make",
  luajit: "lua",
  pypy: "python",
  python3: "python",
  pythonw: "python",
  batcat: "bat",
  fdfind: "fd",
  ripgrep: "rg",
  sqlite: "sqlite3",
  bfs: "find",
  c89: "cc",
  c99: "cc",
  "ld.gold": "ld",
  "ld.bfd": "ld",
  "ld.lld": "ld",
  "ld.mold": "ld",
  gold: "ld",
  "clang-cl": "clang",
  "clang-cpp": "clang",
  icc: "gcc",
  icpc: "gcc",
  icx: "clang",
  icpx: "clang",
  armclang: "clang",
  ffplay: "ffmpeg",
  ffprobe: "ffmpeg",
  "youtube-dlc": "youtube-dl",
  "lto-dump": "gcc",
  gfortran: "gcc",
  gdc: "gcc",
  gccgo: "gcc",
  gm2: "gcc",
  gnat: "gcc",
  "ctags-universal": "ctags",
  "exuberant-ctags": "ctags",
  tomlq: "yq",
  xq: "yq",
  "xq-python": "yq",
  ugrep: "ug",
  gsort: "sort",
  gsplit: "split",
  ginstall: "install",
  // GNU programs under the names they have beside those of another system.
  genv: "env",
  gnice: "nice",
  gnohup: "nohup",
  gstdbuf: "stdbuf",
  gtime: "time",
  gtimeout: "timeout",
  gxargs: "xargs",
};

/** Lower case, without version, flavour and the prefix of a cross compiler. */
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
  // Only those of the system: anybody may have an update-notes of their own.
  const administers = /^\/(?:usr\/)?s?bin\/(?:dpkg-(?!query$)|update-|deb-systemd-|xdg-|s6-)/.test(path)
    ? ["service"]
    : [];
  // busybox.nosuid, toybox-x86_64, nvim.appimage, docker-buildx: a flavour or a part of the same program.
  const part = /^(busybox|toybox|n?vim|emacs|docker|podman|kubectl)[-._]/.exec(name)?.slice(1) ?? [];
  const all = [name, ...runner, ...administers, ...part, bare, unversioned, native, stem, ...cross, ...loader];
  return [...new Set(all.flatMap((one) => [one, aliases[one] ?? one]))];
}
