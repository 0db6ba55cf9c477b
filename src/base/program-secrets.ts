// What is known about programs that take secrets: short options, plain words, input, and what `-p` means.
import { looksSecretInCommand } from "./secret-names.ts";

export interface Program {
  /** The whole command, with what starts the program. */
  readonly words: readonly string[];
  /** Position of the program among the words. */
  readonly at: number;
  readonly name: string;
  readonly pIsOther: boolean;
  readonly pIsPassword: boolean;
  /** Short options whose next word is a secret. */
  readonly secretOptions: readonly string[];
  /** Short options with the secret in the same word. */
  readonly attached: readonly string[];
  /** It has `set name value`. */
  readonly sets: boolean;
  /** It stores `NAME=value` as a secret, whatever the name: `kubectl create secret`, `fly secrets set`. */
  readonly storesSecrets: boolean;
}

/** Skips assignments and programs that only start another program. */
export function programOf(words: readonly string[]): Program {
  const first = words.findIndex(
    (value) => !/^\w+=/.test(value) && !value.startsWith("-") && !starters.has(baseOf(value)),
  );
  const at = first < 0 ? words.length : first;
  const name = baseOf(words[at] ?? "");
  const isLogin = words.slice(at + 1).some((value) => value === "login");
  const known = shortOptions.find(([programs]) => programs.test(name));
  return {
    words,
    at,
    name,
    pIsOther: otherP.has(name) && !isLogin,
    pIsPassword: name === "sshpass" || isLogin,
    secretOptions: known?.[1] ?? [],
    attached: known?.[2] ?? [],
    sets: words.some((value) => /^(?:set|config|setenv)$/i.test(value)),
    storesSecrets: words.slice(at + 1, at + 4).some((value) => /^secrets?(?:\/|$)/.test(value)),
  };
}

/** `-p` is a password unless the program is known to use it for something else, or the value looks like ports. */
export function hasPasswordAfterP(value: string, { pIsOther, pIsPassword }: Program): boolean {
  if (pIsPassword) return true;
  return !pIsOther && !/^[\d:,./-]+(?:tcp|udp)?$/.test(value);
}

/** Where a secret begins that only its program makes one: `vault login x`, `curl -x me:x@proxy`. */
export function secretAfter({ words, at, name }: Program, index: number): number | undefined {
  const value = words[index] ?? "";
  const distance = index - at;
  if (distance < 1) return undefined;
  const option = `${name} ${words[index - 1] ?? ""}`;
  const partial = partialOptions.find(([before]) => before.test(option));
  if (partial !== undefined) return partial[1].exec(value)?.[0].length;
  if (distance > MAX_WORDS) return undefined;
  const before = [name, ...words.slice(at + 1, index)].map((word) => word.slice(0, 40)).join(" ");
  return plainWords.some((form) => form.test(before)) ? 0 : undefined;
}

/** It reads a secret from its input: `docker login --password-stdin`, `sudo -S`, `chpasswd`, `read TOKEN`. */
export function readsSecret({ words, at, name }: Program): boolean {
  const own = words.slice(at);
  return (
    inputReaders.test([name, ...own.slice(1, 3)].join(" ")) ||
    words.some((word) => /^--(?:[\w-]*(?:pass|token|secret|key)[\w-]*-(?:stdin|fd)|with-token)$/.test(word)) ||
    (words.slice(0, at).some((word) => baseOf(word) === "sudo") &&
      words.some((word) => /^(?:-\w*S\w*|--stdin)$/.test(word))) ||
    (name === "read" && own.slice(1).some((word) => looksSecretInCommand(word)))
  );
}

export const prints = ({ name }: Program): boolean => name === "echo" || name === "printf";

const baseOf = (path: string): string => path.replace(/^.*[/\\]/s, "").replace(/\.(?:exe|cmd|bat)$/i, "");

const starters: ReadonlySet<string> = new Set(
  "sudo doas env nohup nice ionice time timeout setsid stdbuf exec command builtin xargs watch then do else if while until ! {".split(
    " ",
  ),
);

/** Programs, their options with a secret in the next word, and those with one in the same word. */
const shortOptions: readonly (readonly [RegExp, readonly string[], readonly string[]])[] = [
  [/^sshpass$/, [], ["-p"]],
  [/^(?:mysql|mariadb)/, [], ["-p"]],
  [/^(?:7z|7za|7zr|rar|unrar)$/, [], ["-p", "-h"]],
  [/^(?:redis-cli|valkey-cli)$/, ["-a"], ["-a"]],
  [/^(?:https?|xh|xhs)$/, ["-a"], []],
  [/^ldap/, ["-w"], ["-w"]],
  [/^(?:zip|unzip|zipcloak|sqlcmd|bcp|isql|ipmitool|mosquitto_(?:pub|sub|rr))$/, ["-P"], ["-P"]],
  [/^openssl$/, ["-k", "-K"], []],
  [/^snmp/, ["-c", "-A", "-X"], []],
  [/^curl$/, ["-b"], ["-b"]],
  [/^ssh-keygen$/, ["-N", "-P"], ["-N", "-P"]],
  [/^(?:doctl|vercel|netlify|glab|influx|uv|slackcat|telegram-send)$/, ["-t"], ["-t"]],
  [/^(?:gem|openai|kaggle|dotnet|nuget)$/, ["-k"], ["-k"]],
  [/^gh$/, ["-b", "--body"], ["-b"]],
  [/^llm$/, ["--value"], []],
  [/^security$/, ["-w", "-p"], []],
];

/** Program and option, and the part of the value before the secret. */
const partialOptions: readonly (readonly [RegExp, RegExp])[] = [
  [/^curl (?:-x|--proxy|--preproxy|--socks\S+)$/, /^(?:\w+:\/\/)?[^@:/]*:(?=[^@]*@)/],
  [/^curl (?:-E|--cert|--proxy-cert)$/, /^[^:]*:/],
  [/^lftp -u$/, /^[^,]*,/],
  [/^sqlplus (?:-\w+|sqlplus|\S*sqlplus)$/i, /^[^/]*\//],
];

const MAX_WORDS = 8;

/** The words before a secret that is a plain word. */
const plainWords: readonly RegExp[] = [
  /^(?:cargo|vault|wandb|ngrok|heroku|hf|huggingface-cli) (?:login|authtoken)$/,
  /^ngrok config add-authtoken$/,
  /^bw (?:login \S+|unlock)$/,
  /^nuget (?:push \S+|setapikey)$/i,
  /^(?:rclone obscure|mkpasswd|openssl passwd(?: -\w+)*|cloudflared service install)$/,
  /^wpa_passphrase \S+$/,
  /^(?:htpasswd|mosquitto_passwd) -\w*b\w*(?: -\w+)* \S+ \S+$/,
  /^rabbitmqctl (?:add_user|change_password) \S+$/,
  /^(?:redis-cli|valkey-cli) .*\bauth(?: \S+)?$/i,
  /^mc (?:alias set|config host add) \S+ \S+ \S+$/,
  /^(?:poetry|composer) config http-basic\.\S+ \S+$/,
  /^pulumi config set (?:--secret \S+|\S+)$/,
  /^ansible-vault encrypt_string$/,
  /^qpdf .*--encrypt(?: \S+)?$/,
  /^smbclient \/\/\S+$/,
  /^(?:nmcli|iw|wpa_cli|pdftk|wg|ip|net) .*\b(?:password|psk|\w+_pw|preshared-key|private-key|\benc \S+)$/,
  /^(?:export|setenv|set -\w+) \w*(?:token|secret|passw|api_?key)\w*$/i,
];

/** Programs that read a password from their input. */
const inputReaders =
  /^(?:chpasswd|passwd|smbpasswd|kinit|cryptsetup|secret-tool (?:store|lookup)|keyring set|pass insert|op signin|bw unlock|su)(?: |$)/;

/** Programs whose `-p` is not a password; for all others it is assumed to be one. */
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
