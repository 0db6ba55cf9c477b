// Redacts secrets in a command line by their context: an option, a variable, a login, a URL.
import { hasPasswordAfterP, programOf, readsSecret, prints, secretAfter, type Program } from "./program-secrets.ts";
import { looksSecretInCommand } from "./secret-names.ts";

/** For display only, never to run. `mark` replaces each secret. */
export function redactCommand(text: string, mark = "***"): string {
  if (!hint.test(text)) return text;
  return redactForms(redactInWords(text, mark, MAX_DEPTH), mark);
}

/** The same for an argument list. */
export function redactArguments(words: readonly string[], mark = "***"): string[] {
  const program = programOf(words);
  return words.map((word, index) => {
    const from = secretFrom(word, index, program);
    return from === undefined || from >= word.length ? redactCommand(word, mark) : `${word.slice(0, from)}${mark}`;
  });
}

/** A command line inside a command line: `ssh host 'mysql -psecret'`. */
const MAX_DEPTH = 4;

/** Most lines contain none of these and need no further check. */
const hint =
  /(?:^|[\s"',])(?:--?[a-zA-Z]|\/p:)|pass|pw|secret|token|key|auth|cred|cookie|bearer|pat|sig|otp|pin|jwt|psk|:\/\/|login|unlock|identified|obscure|kinit|crypt|sqlplus|user|basic|nuget|cloudflared|<<</i;

interface Word {
  readonly start: number;
  readonly end: number;
  /** The value as the program receives it. */
  readonly value: string;
  /** Position of each character of the value in the text, and the quote that is open there. */
  readonly at: readonly number[];
  readonly quotes: readonly string[];
  /** Quoted parts, which may be command lines themselves. */
  readonly inner: readonly (readonly [number, number])[];
  /** True for the word after `<<<`. */
  readonly isInput?: boolean;
}

interface Command {
  readonly words: Word[];
  /** True when the next command reads what this one prints. */
  isPiped: boolean;
}

interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function redactInWords(text: string, mark: string, depth: number): string {
  const cuts: Cut[] = [];
  const commands = commandsIn(text);
  commands.forEach(({ words, isPiped }, at) => {
    const program = programOf(words.map(({ value }) => value));
    const isRead = readsSecret(program);
    const isTyped = isPiped && prints(program) && readsSecret(programOf(valuesOf(commands[at + 1])));
    words.forEach((word, index) => {
      const isSecret = word.isInput === true ? isRead : isTyped && index > 0 && !/^(?:-\w+$|[^%]*%)/.test(word.value);
      const from = isSecret ? 0 : secretFrom(word.value, index, program);
      if (from !== undefined && from < word.value.length) cuts.push(cutFrom(word, from, mark));
      else if (depth > 0)
        for (const [start, end] of word.inner) {
          const inside = text.slice(start, end);
          const shown = /\s/.test(inside) ? redactInWords(inside, mark, depth - 1) : inside;
          if (shown !== inside) cuts.push({ start, end, text: shown });
        }
    });
  });
  let out = "";
  let done = 0;
  for (const { start, end, text: shown } of cuts) {
    out += text.slice(done, start) + shown;
    done = end;
  }
  return out + text.slice(done);
}

const valuesOf = (command: Command | undefined): string[] => command?.words.map(({ value }) => value) ?? [];

/** A quote opened before the secret is closed after the mark. */
function cutFrom({ start, end, at, quotes }: Word, from: number, mark: string): Cut {
  if (from === 0) return { start, end, text: mark };
  const last = at[from - 1] ?? start;
  return { start: last + 1, end, text: mark + (quotes[from - 1] ?? "") };
}

/** Where the secret of a word begins; undefined when there is none. */
function secretFrom(value: string, index: number, program: Program): number | undefined {
  return (
    secretAfter(program, index) ??
    afterOption(value, program.words[index - 1], program) ??
    assignedIn(value, program) ??
    attachedIn(value, program) ??
    headerIn(value)
  );
}

/** The word after `--password`, `-p`, `-u`. */
function afterOption(value: string, before: string | undefined, program: Program): number | undefined {
  if (before === undefined) return undefined;
  const isOption = /^--?[A-Za-z]/.test(before) && !before.includes("=");
  if (isOption && value.startsWith("--")) return undefined;
  const name = before.replace(/^-+/, "");
  if (isOption && before.length > 2 && looksSecretInCommand(name))
    return isOtherKey(name, value) ? undefined : openBefore(value);
  if (isOption && program.secretOptions.includes(before)) return 0;
  if (before === "-p") return hasPasswordAfterP(value, program) ? 0 : undefined;
  if (logins.test(before)) return loginIn(value);
  // `config set user.password x`, `CONFIG SET requirepass x`: two words that belong together.
  if (program.sets && /[._:-]|[a-z][A-Z]|\wpass$/.test(before) && !isOption && looksSecretInCommand(before)) return 0;
  return undefined;
}

/** `sort --key 2`, `openssl -key server.pem`. */
const isOtherKey = (name: string, value: string): boolean =>
  name === "key" && /^(?:[\d,.]+[a-zA-Z]{0,3}|(?:~|\.{1,2})?\/.*|.*\.(?:pem|key|crt|der))$/.test(value);

/** `openssl -passin pass:x` names the kind first; `file:` and `env:` are not secrets. */
function openBefore(value: string): number | undefined {
  const [kind] = /^(?:pass|file|env|fd|stdin)(?::|$)/.exec(value) ?? [];
  if (kind === undefined) return 0;
  return kind === "pass:" ? kind.length : undefined;
}

/** `NAME=x`, `--token=x`, `-e TOKEN=x`, `--set a=1,b.password=x`, `-Dkey.password=x`, `/p:x`. */
function assignedIn(value: string, program: Program): number | undefined {
  const [, option = ""] = (program.storesSecrets && /^(?:--from-literal=)?([\w.-]+=)./.exec(value)) || [];
  if (option !== "") return value.indexOf(option) + option.length;
  for (const match of value.matchAll(/([^\s=,;&?"'{}]{1,200})=/g)) {
    const from = match.index + match[0].length;
    const name = (match[1] ?? "").replace(/^[-+/]+/, "");
    if (/^-[pP]$/.test(match[1] ?? "") || looksSecretInCommand(name.replace(/^.*:/s, "")))
      return restAfter(value, from);
    if (logins.test(match[1] ?? "")) return shifted(loginIn(value.slice(from)), from);
  }
  return /^\/p:./.test(value) ? 3 : undefined;
}

/** In a URL only this parameter is a secret; other patterns find it there. */
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
  if (option === "-p" && !/^[a-z-]+$/.test(rest) && hasPasswordAfterP(rest, program)) return 2;
  return undefined;
}

/** `Authorization: Bearer x` as one word, however its spaces are quoted. */
function headerIn(value: string): number | undefined {
  const [head = "", name = ""] =
    /^([\w-]{1,200}):\s*(?:(?:Basic|Bearer|Bot|Token|Digest)\s+)?(?!\/\/)/i.exec(value) ?? [];
  return head !== "" && looksSecretInCommand(name) ? head.length : undefined;
}

/** Also at the end of joined letters, as in `curl -sSu me:x`. */
const logins = /^(?:-[A-Za-z]{0,8}[uU]|--user|--username|--proxy-user|--login|--auth|--basic-auth|--credentials)$/;

/** `me:x`, and `me%x` of smbclient. Two numbers are the ids of a user and a group. */
function loginIn(value: string): number | undefined {
  if (/^\d+:\d+$/.test(value) || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return undefined;
  const at = value.search(/[:%]/);
  return at < 0 ? undefined : at + 1;
}

const shifted = (from: number | undefined, by: number): number | undefined =>
  from === undefined ? undefined : from + by;

/** The simple commands of a line. An unclosed quote is an ordinary character. */
function commandsIn(text: string): Command[] {
  const commands: Command[] = [];
  let words: Word[] = [];
  let at = 0;
  let isInput = false;
  const unclosed = new Set<string>();
  const next = (isPiped: boolean): void => {
    if (words.length > 0) commands.push({ words, isPiped });
    words = [];
  };
  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === "\\" && /[\r\n]/.test(text[at + 1] ?? "")) at += text.startsWith("\r\n", at + 1) ? 3 : 2;
    else if (ends.has(char)) {
      next(char === "|" && text[at + 1] !== "|");
      at += 1;
    } else if (text.startsWith("<<<", at)) {
      isInput = true;
      at += 3;
    } else if (/[\s<>]/.test(char)) at += 1;
    else {
      const word = readWord(text, at, unclosed);
      words.push(isInput ? { ...word, isInput } : word);
      isInput = false;
      at = word.end;
    }
  }
  next(false);
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

/** Secrets inside a word: headers, JSON, URL parameters and logins, lists of words in a script. */
function redactForms(text: string, mark: string): string {
  const named = text.replaceAll(assigned, (written, name: string, gap: string, value: string) =>
    value.startsWith(mark) || !looksSecretInCommand(name) ? written : `${name}${gap}${mark}`,
  );
  const listed = named.replaceAll(listedOption, (written, head: string, name: string) =>
    looksSecretInCommand(name) ? `${head}${mark}` : written,
  );
  const bare = [cookies, hookUrls, sqlPasswords].reduce((words, form) => words.replaceAll(form, `$1${mark}`), listed);
  return bare.replaceAll(inAddress, `$1${mark}@`).replaceAll(userInAddress, `$1${mark}@`);
}

const NAME =
  "(?:token|secrets?|pass(?:word|wd|phrase|code)?|pwd|key|auth|authorization|cookie|credentials?|creds|bearer|pat|sig|signature)";
const VALUE = String.raw`(?:\\"[^"]*"|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&;|]+)`;
// A name is matched from its start only, so that a long run of letters is tried once.
/** `"password": "x"`, `Authorization: Basic x`, `?api_key=x`. */
const assigned = new RegExp(
  String.raw`(?<![\w-])([\w-]{0,200}${NAME})((?:\\?["'])?\s*[:=]\s*(?:(?:Basic|Bearer|Bot|Token|Digest)\s+)?)(${VALUE})`,
  "gi",
);
/** `["--password", "x"]`. */
const listedOption = /((["'])--?([\w-]{1,200})\2\s*,\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*')/g;
/** `Cookie: a=x; b=y`. */
const cookies = /(\bcookie["']?\s*:\s*)[^"'\n]+/gi;
/** URLs that are themselves credentials, such as webhooks. */
const hookUrls =
  /(https?:\/\/(?:hooks\.slack\.com\/services|(?:[a-z]+\.)?discord(?:app)?\.com\/api\/webhooks)\/|https?:\/\/api\.telegram\.org\/bot)[^\s"']+/gi;
/** `ALTER USER u PASSWORD 'x'`, `IDENTIFIED BY 'x'`. */
const sqlPasswords = /(\b(?:password|identified\s+(?:with\s+\w+\s+)?(?:by|as))\s+\\?["'])[^"']+/gi;
/** `https://me:x@host`, also with an @ in the password. */
const inAddress = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{1,20}:\/\/[^/\s:@"']*:)[^/\s"']+@/gi;
/** `https://token@host`. */
const userInAddress = /(?<![a-z0-9+.-])(https?:\/\/)[^/\s:@"'*]+@/gi;
