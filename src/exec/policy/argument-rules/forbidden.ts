// Programs that are plain except for a few options that carry commands, load code or write files unexpectedly.
import { curlSpellings } from "./curl-patterns.ts";
import { endOfOptions } from "./options.ts";
import { concern, fine, type Rule } from "./rule.ts";

interface Forbidden {
  /** Single letters, at any position in a cluster. */
  readonly entries?: string;
  /** Single letters that take the rest as their value, so that no letters follow. */
  readonly valued?: string;
  /** Single letters without a value; a `--` after one of them ends the options. */
  readonly flags?: string;
  /** Long options with their dashes; every abbreviation counts too. */
  readonly long?: string;
  /** Words of any form. */
  readonly words?: RegExp;
  /** What the program may expand a word to; undefined means too many expansions. */
  readonly spellings?: (word: string) => readonly string[] | undefined;
}

const compiler: Forbidden = {
  words:
    /^(?:\/clang:)?(?:-wrapper|-fmodule-mapper|-{1,2}gcc-(?:toolchain|install-dir)|-ccc-|--prefix|-foffload|-fplugin|-fpass-plugin|-specs|--specs|-B|@|-load|-Xclang|-fuse-ld|--ld-path|-plugin|-W[alp],.*(?:plugin|@|-T|script)|-Xassembler|-Xpreprocessor|-Xlinker|-iplugindir|--config|-T)/,
};

/** Tools of the clang library load their own modules and start the configured compiler. */
const clangTool: Forbidden = {
  words:
    /^(?:@|-{1,2}(?:load|plugins?|add-plugin|query-driver|fplugin|fpass-plugin|Xclang|clang-tidy-binary|clang-apply-replacements-binary)(?:=|$))|plugin|-load/,
};

const binutils: Forbidden = { words: /^(?:--plugin|@)/ };

/** Tools of the JDK pass -J to the Java VM: agents, and commands that run on a failure. */
const javaTool: Forbidden = { words: /^(?:@|-J|-{1,2}(?:doclet|taglet|provider|plugin|add-module|module-path|agent))/ };

const packetFilter: Forbidden = { entries: "M", long: "--modprobe" };

const programs: Readonly<Record<string, Forbidden>> = {
  rg: {
    entries: "z",
    valued: "ABCEMTdefgjmrt",
    flags: "nilcvwxsSoHNIFPUauhpqL0.",
    long: "--pre --pre-glob --hostname-bin --search-zip",
  },
  ag: { entries: "z", long: "--pager --search-zip" },
  ack: { long: "--pager --ackrc --env --output" },
  // Programs that show things but can be made to write a file, which an owner who lists them does not expect.
  sort: { entries: "o", valued: "kStT", long: "--compress-program --output" },
  shuf: { entries: "o", valued: "in", long: "--output" },
  iconv: { entries: "o", valued: "ft", long: "--output" },
  tree: { entries: "oR", valued: "LPIHT", long: "--output" }, // -R starts tree again and writes a page in every folder
  date: { entries: "s", valued: "dfr", long: "--set" },
  file: { entries: "Cm", valued: "Ffe", long: "--compile --magic-file" },
  sysctl: { entries: "wpf", long: "--write --load --system", words: /=/ },
  javac: { words: /^(?:@|-processor|--processor|-J|-Xplugin)/ },
  yq: { entries: "is", long: "--inplace --in-place --split-exp" },
  enscript: { entries: "Io", long: "--filter --output" },
  split: { long: "--filter" },
  ip: { words: /^(?:net(?:n|ns)?|v|vrf?|-b|-ba[a-z]*|-force)$/ },
  tc: { words: /^(?:e|ex|exe|exec|-b|-ba[a-z]*|-force)$/ },
  curl: {
    entries: "KQ",
    long: "--config --engine --quote --libcurl --unix-socket --abstract-unix-socket --proto-default --variable",
    words: /^--expand-|^(?:--url=)?(?:file|gopher|dict|telnet|smbs?|scp|sftp|ldaps?|tftp|rtmp):|%output\{/i,
    spellings: curlSpellings,
  },
  install: { entries: "s", long: "--strip --strip-program" },
  gcc: compiler,
  cc: compiler,
  "g++": compiler,
  "c++": compiler,
  cpp: compiler,
  clang: compiler,
  "clang++": compiler,
  ld: { words: /^(?:-plugin|--plugin|@|-T|--script|-dT)/ },
  ar: binutils,
  ranlib: binutils,
  strip: binutils,
  objcopy: binutils,
  size: binutils,
  addr2line: binutils,
  readelf: binutils,
  "clang-tidy": clangTool,
  "run-clang-tidy": clangTool,
  clangd: clangTool,
  "clang-check": clangTool,
  "clang-query": { words: /./ },
  "clang-format": { words: /^@/ },
  "include-what-you-use": clangTool,
  iwyu: clangTool,
  cppcheck: { words: /^--(?:addon|addon-python|clang|exe|rule-file|library|project|executor)(?:=|$)/ },
  p11tool: { long: "--provider", words: /^pkcs11:.*module-(?:path|name)/ },
  certtool: { long: "--provider", words: /module-(?:path|name)/ },
  "gnutls-cli": { long: "--provider", words: /module-(?:path|name)/ },
  cloc: { words: /^--?(?:vcs|git|extract-with|config|read-lang-def|force-lang-def|diff-list)/ },
  protoc: { long: "--plugin --plugin_out", words: /^(?:@|--plugin)/ },
  msgfmt: { words: /^--(?:java|csharp)/ },
  wrk: { entries: "s", long: "--script" },
  gm: { words: /[|@]|^msl:|^ephemeral:|:/ },
  kustomize: { words: /^--(?:enable|helm-command|network|mount|env)/ },
  // Backups and copies: a remote repository is reached through another program, named by an option, an address or a setting.
  restic: {
    entries: "o",
    valued: "rphH",
    words:
      /^--(?:opt|(?:from-)?password-c|(?:from-)?repository-|stdin-from-c)|^(?:-r|--repo=|--from-repo=)?(?:sftp|rclone):|^(?:mount|self-update)$/,
  },
  rclone: {
    words:
      /(?:command|-ssh|mapper|metadata-program|askpass)(?:=|$)|^--(?:config|rc|plugin|exec)|^:|^[^/]*,[^/]*:|^(?:mount|mount2|nfsmount|cmount|serve|rcd|config|selfupdate|gui|rc|authorize|test)$/,
  },
  borg: {
    long: "--rsh --remote-path --content-from-command --paths-from-command",
    words: /^(?:ssh:|[^/]+@[^/]*:)|^(?:mount|serve|with-lock)$/,
  },
  kopia: { words: /^--(?:.*-(?:command|exe|args|path)|config-file)(?:=|$)|^(?:mount|server|policy|rclone|sftp)$/ },
  "youtube-dl": { long: "--exec --external-downloader --config-location --ffmpeg-location" },
  as: { words: /^@/ },
  nm: { long: "--plugin", words: /^@/ },
  objdump: { words: /^@/ },
  gpg: {
    long: "--exec-path --photo-viewer --agent-program --dirmngr-program --options --homedir --pinentry-program --show-photos --pinentry-mode --load-extension --keyserver-options --list-options --verify-options",
  },
  "ssh-keygen": { entries: "Dw" },
  "ssh-add": { entries: "se" },
  "ssh-keyscan": { entries: "f" },
  pandoc: {
    entries: "FLd",
    long: "--filter --lua-filter --defaults --pdf-engine --pdf-engine-opt --extract-media --to --write --data-dir --template",
    words: /^-t.*\.lua$/,
  },
  sdiff: { entries: "o", long: "--diff-program --output" },
  diff3: { long: "--diff-program" },
  gh: {
    words:
      /^(?:alias|extension|extensions|ext|codespace|cs|config|auth|copilot|clone|fork|browse|edit|--editor|--web|-w|--)$/,
  },
  convert: { words: /[|@]|^msl:|^ephemeral:|:/ },
  magick: { words: /[|@]|^msl:|^ephemeral:|^-script|:/ },
  identify: { words: /[|@]|:/ },
  mogrify: { words: /[|@]|:/ },
  journalctl: { long: "--file --root --image --setup-keys" },
  mount: { words: /./ },
  jar: javaTool,
  javap: javaTool,
  javadoc: javaTool,
  jarsigner: javaTool,
  keytool: javaTool,
  jdeps: javaTool,
  jdeprscan: javaTool,
  jlink: javaTool,
  jmod: javaTool,
  jps: javaTool,
  jstat: javaTool,
  jstack: javaTool,
  jmap: javaTool,
  jinfo: javaTool,
  jfr: javaTool,
  jimage: javaTool,
  jconsole: javaTool,
  serialver: javaTool,
  rmiregistry: javaTool,
  iptables: packetFilter,
  ip6tables: packetFilter,
  "iptables-restore": packetFilter,
  "ip6tables-restore": packetFilter,
  "iptables-legacy": packetFilter,
  "iptables-nft": packetFilter,
  ebtables: packetFilter,
  arptables: packetFilter,
  json_pp: { words: /eval/ },
  pygmentize: { entries: "x", valued: "lfFOPoSsHaN" },
  savelog: { entries: "x" },
  rpcgen: { entries: "Y" },
  slattach: { entries: "c" },
  xrdb: { words: /^-(?:cpp|edit|backup)/ },
  grog: { long: "--run" },
  ug: { entries: "Q", long: "--filter --pager --view --query --config --save-config" },
  gpgsm: { long: "--agent-program --dirmngr-program --protect-tool-program --options --homedir" },
  "llvm-cov": { words: /^-{1,2}Xdemangler/ },
  osslsigncode: { words: /^-(?:pkcs11|engine|provider)/ },
  ctags: { words: /^--(?:options|optlib-dir|filter|_)/ },
  unzip: { entries: "K" },
  // Some filters are libraries given by path, and some inputs are scripts.
  ffmpeg: {
    words:
      /^(?:-init_hw_device|-filter_complex_script|-filter_script|-\/)|ladspa|frei0r|\blv2\b|vapoursynth|avisynth|\.(?:vpy|avs)$/i,
  },
  tic: { words: /./ },
  groff: { entries: "UIMTP" },
  nroff: { entries: "U" },
  troff: { entries: "U" },
  pic: { entries: "U" },
  pidstat: { entries: "e" },
  scrot: { entries: "e", long: "--exec" },
  timedatectl: { entries: "HM", long: "--host --machine" },
  hostnamectl: { entries: "HM", long: "--host --machine" },
  localectl: { entries: "HM", long: "--host --machine" },
  fsck: { entries: "t" },
  mkfs: { entries: "t", long: "--type" },
  insmod: { words: /./ },
  modprobe: { words: /./ },
  "yt-dlp": {
    long: "--exec --exec-before-download --config-locations --plugin-dirs --downloader --external-downloader --netrc-cmd --ffmpeg-location --js-runtimes --use-postprocessor --batch-file --alias",
  },
  delta: { words: /^--(?:pager|paging)/ },
  etcdctl: { words: /^(?:lock|watch|elect)$/ },
  nats: { long: "--command" },
  rabbitmqctl: { words: /^(?:eval|eval_file|exec)$/ },
  sqldiff: { entries: "L", long: "--lib" },
  mutool: { words: /^run$/ },
  qsv: { words: /^(?:luau|py|foreach)$/ },
  iverilog: { entries: "Bm", words: /^-(?:M|f|c)/ },
  dot: { entries: "l" },
};

export const forbiddenRules: ReadonlyMap<string, Rule> = new Map(
  Object.entries(programs).map(([name, forbidden]): [string, Rule] => [name, (args) => judge(name, args, forbidden)]),
);

function judge(name: string, args: readonly string[], forbidden: Forbidden): ReturnType<Rule> {
  const options = args.slice(0, endOfOptions(args, forbidden.flags));
  const hit =
    options.find((word) => isForbidden(word, forbidden)) ?? args.find((word) => isForbiddenWord(word, forbidden));
  return hit === undefined
    ? fine
    : concern(`${name} can run or load other code, or write a file, with ${hit.replace(/=.*/s, "=…").slice(0, 40)}`);
}

function isForbiddenWord(word: string, { words, spellings = (one) => [one] }: Forbidden): boolean {
  return words !== undefined && (spellings(word)?.some((spelling) => words.test(spelling)) ?? true);
}

function isForbidden(word: string, { entries = "", valued = "", long = "" }: Forbidden): boolean {
  if (word.startsWith("--")) {
    const written = word.replace(/=.*$/s, "");
    return written.length > 2 && long.split(" ").some((option) => option !== "" && option.startsWith(written));
  }
  if (!word.startsWith("-")) return false;
  const cluster = Array.from(word.slice(1));
  const value = cluster.findIndex((entry) => valued.includes(entry));
  return cluster.slice(0, value < 0 ? undefined : value + 1).some((entry) => entries.includes(entry));
}
