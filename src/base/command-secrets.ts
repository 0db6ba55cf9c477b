// Takes secrets out of a command line by what stands before them: an option, a variable, a login, an address.
import { looksSecretInCommand } from "./secret-names.ts";

/** For people and models to read, never to run. `mark` stands where a secret was. */
export function hideCommandSecrets(text: string, mark = "***"): string {
  if (!hint.test(text)) return text;
  return hideForms(hideInWords(text, mark, MAX_DEPTH), mark);
}

/** The same for the words of a list, as a program gets them. */
export function hideWordSecrets(words: readonly string[], mark = "***"): string[] {
  const program = programOf(words);
  return words.map((word, index) => {
    const from = secretFrom(word, words[index - 1], program);
    return from === undefined || from >= word.length ? hideCommandSecrets(word, mark) : `${word.slice(0, from)}${mark}`;
  });
}

/** A line inside a line: `ssh host 'mysql -psecret'`. */
const MAX_DEPTH = 4;

/** Most lines hold none of these, and are done with after one look. */
const hint =
  /(?:^|[\s"',])(?:--?[a-zA-Z]|\/p:)|pass|pwd|secret|token|key|auth|cred|cookie|bearer|pat|sig|otp|pin|:\/\//i;

interface Word {
  readonly start: number;
  readonly end: number;
  /** As the program gets it. */
  readonly value: string;
  /** Where each character of the value stands in the text, and the quote that is open there. */
  readonly at: readonly number[];
  readonly quotes: readonly string[];
  /** Quoted parts, which may be command lines themselves. */
  readonly inner: readonly (readonly [number, number])[];
}

interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function hideInWords(text: string, mark: string, depth: number): string {
  const cuts: Cut[] = [];
  for (const words of commandsIn(text)) {
    const program = programOf(words.map(({ value }) => value));
    let before: Word | undefined;
    for (const word of words) {
      const from = secretFrom(word.value, before?.value, program);
      before = word;
      if (from !== undefined && from < word.value.length) cuts.push(cutFrom(word, from, mark));
      else if (depth > 0)
        for (const [start, end] of word.inner) {
          const inside = text.slice(start, end);
          const shown = /\s/.test(inside) ? hideInWords(inside, mark, depth - 1) : inside;
          if (shown !== inside) cuts.push({ start, end, text: shown });
        }
    }
  }
  let out = "";
  let done = 0;
  for (const { start, end, text: shown } of cuts) {
    out += text.slice(done, start) + shown;
    done = end;
  }
  return out + text.slice(done);
}

/** A quote that was opened before the secret is closed after the mark. */
function cutFrom({ start, end, at, quotes }: Word, from: number, mark: string): Cut {
  if (from === 0) return { start, end, text: mark };
  const last = at[from - 1] ?? start;
  return { start: last + 1, end, text: mark + (quotes[from - 1] ?? "") };
}

/** Where the secret of a word begins; undefined when it holds none. */
function secretFrom(value: string, before: string | undefined, program: Program): number | undefined {
  return afterOption(value, before, program) ?? assignedIn(value) ?? attachedIn(value, program);
}

/** The word behind `--password`, `-p`, `-u`. */
function afterOption(value: string, before: string | undefined, program: Program): number | undefined {
  if (before === undefined) return undefined;
  const isOption = /^--?[A-Za-z]/.test(before) && !before.includes("=");
  if (isOption && value.startsWith("--")) return undefined;
  const name = before.replace(/^-+/, "");
  if (isOption && before.length > 2 && looksSecretInCommand(name))
    return isOtherKey(name, value) ? undefined : openBefore(value);
  if (isOption && program.secretOptions.includes(before)) return 0;
  if (before === "-p") return isPassword(value, program) ? 0 : undefined;
  if (logins.test(before)) return loginIn(value);
  // `config set user.password x`: two words that belong together.
  if (!before.startsWith("-") && program.sets && /[._:]/.test(before) && looksSecretInCommand(before)) return 0;
  return undefined;
}

/** `sort --key 2`, `openssl -key server.pem`. */
const isOtherKey = (name: string, value: string): boolean =>
  name === "key" && /^(?:[\d,.]+[a-zA-Z]{0,3}|(?:~|\.{1,2})?\/.*|.*\.(?:pem|key|crt|der))$/.test(value);

/** `openssl -passin pass:x` names the kind first; `file:` and `env:` are no secrets. */
function openBefore(value: string): number | undefined {
  const [kind] = /^(?:pass|file|env|fd|stdin)(?::|$)/.exec(value) ?? [];
  if (kind === undefined) return 0;
  return kind === "pass:" ? kind.length : undefined;
}

/** `NAME=x`, `--token=x`, `-e TOKEN=x`, `--set a=1,b.password=x`, `-Dkey.password=x`, `/p:x`. */
function assignedIn(value: string): number | undefined {
  for (const match of value.matchAll(/([^\s=,;&?"'{}]{1,200})=/g)) {
    const from = match.index + match[0].length;
    const name = (match[1] ?? "").replace(/^[-+/]+/, "");
    if (/^-[pP]$/.test(match[1] ?? "") || looksSecretInCommand(name.replace(/^.*:/s, "")))
      return restAfter(value, from);
    if (logins.test(match[1] ?? "")) return shifted(loginIn(value.slice(from)), from);
  }
  return /^\/p:./.test(value) ? 3 : undefined;
}

/** In an address only this parameter is a secret; the other forms find it there. */
function restAfter(value: string, from: number): number | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? undefined : from;
}

/** `-psecret`, `-ume:secret`. */
function attachedIn(value: string, program: Program): number | undefined {
  const option = value.slice(0, 2);
  if (!/^-[A-Za-z]$/.test(option) || value.length < 3) return undefined;
  const rest = value.slice(2);
  if (program.attached.includes(option)) return 2;
  if (option === "-u" || option === "-U") return /^[A-Za-z]+$/.test(rest) ? undefined : shifted(loginIn(rest), 2);
  if (option === "-p" && !/^[a-z-]+$/.test(rest) && isPassword(rest, program)) return 2;
  return undefined;
}

const logins = /^(?:-u|-U|--user|--username|--proxy-user|--login|--auth|--basic-auth|--credentials)$/;

/** `me:x`, and `me%x` of smbclient. Two numbers are ids of a user and a group. */
function loginIn(value: string): number | undefined {
  if (/^\d+:\d+$/.test(value) || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return undefined;
  const at = value.search(/[:%]/);
  return at < 0 ? undefined : at + 1;
}

const shifted = (from: number | undefined, by: number): number | undefined =>
  from === undefined ? undefined : from + by;

/** `-p` is a password unless the program is known to mean something else by it, or it is ports. */
function isPassword(value: string, { pIsOther, pIsPassword }: Program): boolean {
  if (pIsPassword) return true;
  return !pIsOther && !/^[\d:,./-]+(?:tcp|udp)?$/.test(value);
}

interface Program {
  readonly pIsOther: boolean;
  readonly pIsPassword: boolean;
  /** Short options whose next word is a secret. */
  readonly secretOptions: readonly string[];
  /** Short options with the secret in the same word. */
  readonly attached: readonly string[];
  /** It has `set name value`. */
  readonly sets: boolean;
}

/** Looks past assignments and programs that only start another. */
function programOf(values: readonly string[]): Program {
  const at = values.findIndex(
    (value) => !/^\w+=/.test(value) && !value.startsWith("-") && !starters.has(baseOf(value)),
  );
  const name = baseOf(values[at] ?? "");
  const isLogin = values.slice(at + 1).some((value) => value === "login");
  const known = shortOptions.find(([programs]) => programs.test(name));
  return {
    pIsOther: otherP.has(name) && !isLogin,
    pIsPassword: name === "sshpass" || isLogin,
    secretOptions: known?.[1] ?? [],
    attached: known?.[2] ?? [],
    sets: values.some((value) => value === "set" || value === "config"),
  };
}

const baseOf = (path: string): string => path.replace(/^.*[/\\]/s, "").replace(/\.(?:exe|cmd|bat)$/i, "");

const starters: ReadonlySet<string> = new Set(
  "sudo doas env nohup nice ionice time timeout setsid stdbuf exec command builtin xargs watch then do else if while until ! {".split(
    " ",
  ),
);

/** Programs, their options with a secret behind them, and those with one in the same word. */
const shortOptions: readonly (readonly [RegExp, readonly string[], readonly string[]])[] = [
  [/^sshpass$/, [], ["-p"]],
  [/^(?:mysql|mariadb)/, [], ["-p"]],
  [/^7z/, [], ["-p"]],
  [/^(?:redis-cli|valkey-cli)$/, ["-a"], ["-a"]],
  [/^(?:https?|xh|xhs)$/, ["-a"], []],
  [/^ldap/, ["-w"], ["-w"]],
  [/^(?:zip|unzip|zipcloak|sqlcmd|bcp|isql|ipmitool|mosquitto_(?:pub|sub|rr))$/, ["-P"], ["-P"]],
  [/^openssl$/, ["-k", "-K"], []],
  [/^snmp/, ["-c", "-A", "-X"], []],
];

/** Programs whose `-p` is known to be no password; all others are taken to mean one. */
const otherP: ReadonlySet<string> = new Set(
  `mkdir cp mv install rsync tar cpio zip unzip patch git hg svn ps pgrep pkill kill lsof netstat ss ssh sftp scp mosh nc ncat
  nmap telnet socat psql pg_dump pg_restore createdb redis-cli valkey-cli redis-server perl python python3 ruby node deno bun
  tsx npx npm pnpm yarn make cmake ninja cargo rustc go gradle mvn docker podman nerdctl kubectl claude codex gemini llm aider
  opencode openclaw pytest mocha jest vitest tsc eslint prettier read declare typeset trap hash jobs test bash sh zsh dash fish
  ls touch df date less more top htop free taskset chrt tee column pr sort diff sudo su tmux screen vim gdb strace perf adb
  systemctl journalctl ip fdisk parted sfdisk pandoc jq grep egrep rg ag fd find sed awk gpg wg iperf iperf3 xfs_repair fsck
  php http-server serve uvicorn gunicorn flask rails jekyll hugo vite next nc.openbsd nc.traditional mount umount echo printf
  pip pip3 uv pipx poetry terraform ansible-playbook nginx ffmpeg rm rmdir chmod chown ln`.split(/\s+/),
);

/** The simple commands of a line, each as its words. A quote that is never closed is a character like others. */
function commandsIn(text: string): Word[][] {
  const commands: Word[][] = [];
  let words: Word[] = [];
  let at = 0;
  const unclosed = new Set<string>();
  const next = (): void => {
    if (words.length > 0) commands.push(words);
    words = [];
  };
  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === "\\" && /[\r\n]/.test(text[at + 1] ?? "")) at += text.startsWith("\r\n", at + 1) ? 3 : 2;
    else if (ends.has(char)) {
      next();
      at += 1;
    } else if (/[\s<>]/.test(char)) at += 1;
    else {
      const word = readWord(text, at, unclosed);
      words.push(word);
      at = word.end;
    }
  }
  next();
  return commands;
}

const ends: ReadonlySet<string> = new Set(["\n", ";", "|", "&", "(", ")", "`"]);

function readWord(text: string, start: number, unclosed: Set<string>): Word {
  const chars: string[] = [];
  const places: number[] = [];
  const quotes: string[] = [];
  const inner: [number, number][] = [];
  const put = (char: string, place: number, quote: string): void => {
    chars.push(char);
    places.push(place);
    quotes.push(quote);
  };
  let at = start;
  while (at < text.length) {
    const char = text[at] ?? "";
    const close = char === '"' || char === "'" ? closingQuote(text, at, unclosed) : -1;
    if (close >= 0) {
      inner.push([at + 1, close]);
      for (let inside = at + 1; inside < close; inside += 1) {
        const escaped = char === '"' && text[inside] === "\\" && /["\\$`]/.test(text[inside + 1] ?? "");
        if (escaped) inside += 1;
        put(text[inside] ?? "", inside, char);
      }
      at = close + 1;
    } else if (char === "\\" && at + 1 < text.length && !/[\r\n]/.test(text[at + 1] ?? "")) {
      put(text[at + 1] ?? "", at + 1, "");
      at += 2;
    } else if (/[\s<>]/.test(char) || ends.has(char) || char === "\\") break;
    else {
      // `$'…'` and `$"…"` are quotes too.
      if (!(char === "$" && /["']/.test(text[at + 1] ?? ""))) put(char, at, "");
      at += 1;
    }
  }
  return { start, end: Math.max(at, start + 1), value: chars.join(""), at: places, quotes, inner };
}

function closingQuote(text: string, open: number, unclosed: Set<string>): number {
  const quote = text[open] ?? "";
  if (unclosed.has(quote)) return -1;
  let at = open + 1;
  while (at < text.length && text[at] !== quote) at += quote === '"' && text[at] === "\\" ? 2 : 1;
  if (at < text.length) return at;
  unclosed.add(quote);
  return -1;
}

/** What is no word of its own: headers, JSON, parameters and logins of addresses, lists of words in a script. */
function hideForms(text: string, mark: string): string {
  const named = text.replaceAll(assigned, (written, name: string, gap: string, value: string) =>
    value.startsWith(mark) || !looksSecretInCommand(name) ? written : `${name}${gap}${mark}`,
  );
  const listed = named.replaceAll(listedOption, (written, head: string, name: string) =>
    looksSecretInCommand(name) ? `${head}${mark}` : written,
  );
  const bare = [cookies, hookUrls].reduce((words, form) => words.replaceAll(form, `$1${mark}`), listed);
  return bare.replaceAll(inAddress, `$1${mark}@`).replaceAll(userInAddress, `$1${mark}@`);
}

const NAME =
  "(?:token|secrets?|pass(?:word|wd|phrase|code)?|pwd|key|auth|authorization|cookie|credentials?|creds|bearer|pat|sig|signature)";
const VALUE = String.raw`(?:\\"[^"]*"|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&;|]+)`;
// A name is looked for from its beginning only: a hundred thousand letters are one try, not as many.
/** `"password": "x"`, `Authorization: Basic x`, `?api_key=x`. */
const assigned = new RegExp(
  String.raw`(?<![\w-])([\w-]{0,200}${NAME})((?:\\?["'])?\s*[:=]\s*(?:(?:Basic|Bearer|Bot|Token|Digest)\s+)?)(${VALUE})`,
  "gi",
);
/** `["--password", "x"]`. */
const listedOption = /((["'])--?([\w-]{1,200})\2\s*,\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*')/g;
/** `Cookie: a=x; b=y`. */
const cookies = /(\bcookie["']?\s*:\s*)[^"'\n]+/gi;
/** Addresses that are all it takes to post there. */
const hookUrls =
  /(https?:\/\/(?:hooks\.slack\.com\/services|(?:[a-z]+\.)?discord(?:app)?\.com\/api\/webhooks)\/)[^\s"']+/gi;
/** `https://me:x@host`, also with an @ in the password. */
const inAddress = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{1,20}:\/\/[^/\s:@"']*:)[^/\s"']+@/gi;
/** `https://token@host`. */
const userInAddress = /(?<![a-z0-9+.-])(https?:\/\/)[^/\s:@"'*]+@/gi;
