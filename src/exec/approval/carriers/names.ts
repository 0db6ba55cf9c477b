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
  batcat: "bat",
  fdfind: "fd",
  ripgrep: "rg",
  sqlite: "sqlite3",
};

/** Lower case, without version, flavour and the prefix of a cross compiler. */
export function familyNames(path: string): readonly string[] {
  const name = basename(path)
    .toLowerCase()
    .replace(/\.exe$/, "");
  const bare = name.replace(/\.(?:basic|tiny|nox|athena|gtk\d?|distrib|wrapped|orig|bin|real)$/, "");
  const unversioned = bare.replace(/[-_.]?v?\d[\d.]*(?:[a-z]|-config)?$/, "");
  const last = unversioned.split("-").at(-1) ?? "";
  const loader = /^ld(?:-linux.*|-musl.*|64)?\.so(?:\.\d+)*$|^ld-.*\.so(?:\.\d+)*$/.test(name) ? ["ld.so"] : [];
  const cross = /^(?:gcc|g\+\+|cpp|cc|c\+\+|clang|clang\+\+|ld|ar|as|nm)$/.test(last) ? [last] : [];
  const all = [name, bare, unversioned, ...cross, ...loader];
  return [...new Set(all.flatMap((one) => [one, aliases[one] ?? one]))];
}
