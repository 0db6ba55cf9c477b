// Programs that are plain but for a few options which carry commands or load code.
import { concern, fine, type Rule } from "./rule.ts";

interface Forbidden {
  /** Single letters, wherever they stand in a cluster. */
  readonly letters?: string;
  /** Long options, with their dashes; every way of shortening them counts too. */
  readonly long?: string;
  /** Words of any shape. */
  readonly words?: RegExp;
}

const compiler: Forbidden = {
  words:
    /^(?:-wrapper|-fplugin|-fpass-plugin|-specs|--specs|-B|@|-load|-Xclang|-fuse-ld|--ld-path|-plugin|-W[alp],.*(?:plugin|@|-T|script)|-Xassembler|-Xpreprocessor|-Xlinker|-iplugindir|--config|-T)/,
};

const programs: Readonly<Record<string, Forbidden>> = {
  rg: { letters: "z", long: "--pre --pre-glob --hostname-bin --search-zip" },
  ag: { letters: "z", long: "--pager --search-zip" },
  ack: { long: "--pager --ackrc --env --output" },
  sort: { long: "--compress-program" },
  split: { long: "--filter" },
  ip: { words: /^(?:net(?:n|ns)?|vrf?|-b|-ba[a-z]*|-force)$/ },
  curl: { letters: "KQ", long: "--config --engine --quote --libcurl --unix-socket --abstract-unix-socket" },
  install: { letters: "s", long: "--strip --strip-program" },
  gcc: compiler,
  cc: compiler,
  "g++": compiler,
  "c++": compiler,
  cpp: compiler,
  clang: compiler,
  "clang++": compiler,
  ld: { words: /^(?:-plugin|--plugin|@|-T|--script|-dT)/ },
  ar: { words: /^(?:--plugin|@)/ },
  as: { words: /^@/ },
  nm: { long: "--plugin", words: /^@/ },
  objdump: { words: /^@/ },
  gpg: {
    long: "--exec-path --photo-viewer --agent-program --dirmngr-program --options --homedir --pinentry-program --show-photos --pinentry-mode",
  },
  "ssh-keygen": { letters: "Dw" },
  "ssh-add": { letters: "se" },
  "ssh-keyscan": { letters: "f" },
  pandoc: {
    letters: "FLd",
    long: "--filter --lua-filter --defaults --pdf-engine --pdf-engine-opt --extract-media --to --write --data-dir --template",
    words: /^-t.*\.lua$/,
  },
  sdiff: { letters: "o", long: "--diff-program --output" },
  diff3: { long: "--diff-program" },
  gh: { words: /^(?:alias|extension|extensions|ext|codespace|cs|config|auth|copilot|--web|-w)$/ },
  convert: { words: /[|@]|^msl:|^ephemeral:|:/ },
  magick: { words: /[|@]|^msl:|^ephemeral:|^-script|:/ },
  identify: { words: /[|@]|:/ },
  mogrify: { words: /[|@]|:/ },
  journalctl: { long: "--file --root --image --setup-keys" },
  mount: { words: /./ },
  ctags: { words: /^--(?:options|optlib-dir|filter|_)/ },
  unzip: { letters: "K" },
  ffmpeg: { words: /^(?:-init_hw_device|-filter_complex_script|-\/)/ },
  tic: { words: /./ },
  delta: { words: /^--(?:pager|paging)/ },
};

export const forbiddenRules: ReadonlyMap<string, Rule> = new Map(
  Object.entries(programs).map(([name, forbidden]): [string, Rule] => [name, (args) => judge(name, args, forbidden)]),
);

function judge(name: string, args: readonly string[], forbidden: Forbidden): ReturnType<Rule> {
  const end = args.indexOf("--");
  const options = end < 0 ? args : args.slice(0, end);
  const hit = options.find((word) => isForbidden(word, forbidden)) ?? args.find((word) => forbidden.words?.test(word));
  return hit === undefined
    ? fine
    : concern(`${name} can run or load other code by ${hit.replace(/=.*/s, "=…").slice(0, 40)}`);
}

function isForbidden(word: string, { letters = "", long = "" }: Forbidden): boolean {
  if (word.startsWith("--")) {
    const written = word.replace(/=.*$/s, "");
    return written.length > 2 && long.split(" ").some((option) => option !== "" && option.startsWith(written));
  }
  return word.startsWith("-") && Array.from(letters).some((letter) => word.includes(letter));
}
