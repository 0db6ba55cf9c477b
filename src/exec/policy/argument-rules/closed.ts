// Programs with options that carry commands: lists the harmless options and rejects all others.
import { controlsCode } from "../variables.ts";
import { readOptions, type OptionTable, type ReadArguments } from "./options.ts";
import { concern, fine, type Rule } from "./rule.ts";

interface Closed {
  readonly table: OptionTable;
  /** Why the arguments are rejected although all options are known. */
  readonly check?: (read: ReadArguments) => string | undefined;
}

/** With host:path a program starts a remote shell. */
const remote = (word: string): boolean => /^[^/]*:/.test(word) || word.includes("://");

/** V=1 is a switch; any other value could be a command in a recipe. */
function isSwitch(word: string): boolean {
  const name = /^([A-Z][A-Z0-9_]*)=(?:\d{1,9}|yes|no|on|off)$/.exec(word)?.[1];
  return name !== undefined && !controlsCode(name);
}

const programs: Readonly<Record<string, Closed>> = {
  rsync: {
    table: {
      entries: "avrzhnPtlpgoDuqcHiSxLkbRmWNUOJEAXK0",
      long: "--archive --verbose --recursive --compress --human-readable --dry-run --progress --partial --times --links --perms --group --owner --devices --specials --update --quiet --checksum --hard-links --itemize-changes --sparse --one-file-system --copy-links --delete --delete-after --delete-before --delete-during --delete-excluded --stats --existing --ignore-existing --size-only --whole-file --inplace --append --relative --backup --no-owner --no-group --no-perms --prune-empty-dirs --list-only --safe-links --version --help --cvs-exclude",
      longValued:
        "--exclude --include --max-size --min-size --max-delete --bwlimit --suffix --chmod --info --timeout --modify-window",
    },
    check: ({ operands }) =>
      operands.some(remote) ? "copies to or from another machine through a remote shell" : undefined,
  },
  man: {
    table: { entries: "kfwaW", long: "--apropos --whatis --where --path --all --version --help" },
    check: ({ operands }) =>
      operands.every((word) => /^[A-Za-z0-9_.:+@-]+$/.test(word)) ? undefined : "is given a file to format",
  },
  less: {
    table: {
      entries: "NRSFXiInMmEeQqfgswrcaGJ",
      long: "--LINE-NUMBERS --RAW-CONTROL-CHARS --chop-long-lines --quit-if-one-screen --no-init --ignore-case --quit-at-eof --squeeze-blank-lines --version --help",
    },
    check: ({ operands }) =>
      operands.some((word) => word.startsWith("+")) ? "is given a command to start with (+…)" : undefined,
  },
  uniq: {
    table: {
      entries: "cdDiuz",
      valued: "fsw",
      long: "--count --repeated --unique --ignore-case --zero-terminated --version --help",
      longValued: "--skip-fields --skip-chars --check-chars",
      longOptional: "--all-repeated --group",
    },
    check: ({ operands }) => (operands.length > 1 ? "writes to the second file it is given" : undefined),
  },
  xxd: {
    table: { entries: "abCeEipruv", valued: "cglosnR" },
    check: ({ operands }) => (operands.length > 1 ? "writes to the second file it is given" : undefined),
  },
  zip: {
    table: {
      entries: "rqjuyvD0123456789oX9lkg",
      valued: "xi",
      long: "--recurse-paths --quiet --junk-paths --update --symlinks --verbose --no-dir-entries --version --help",
    },
  },
  tcpdump: {
    table: { entries: "AbdDefKlLnNOpqStuUvxXH#", valued: "icrsByTVjEM" },
  },
  make: {
    table: {
      entries: "kBnqsiwtSd",
      valued: "C",
      optional: "jl",
      long: "--keep-going --always-make --dry-run --just-print --question --silent --quiet --ignore-errors --print-directory --no-print-directory --touch --version --help --trace --no-builtin-rules",
      longValued: "--directory",
      longOptional: "--jobs --load-average",
    },
    check: ({ operands }) =>
      operands.some((word) => /[=$(]/.test(word) && !isSwitch(word)) ? "sets variables that recipes run" : undefined,
  },
  systemctl: {
    table: {
      entries: "alqnr",
      valued: "tp",
      long: "--all --full --no-pager --quiet --plain --no-legend --failed --user --version --help --value",
      longValued: "--type --state --property --output --lines",
    },
    check: ({ operands }) =>
      /^(?:status|show|cat|is-active|is-enabled|is-failed|list-units|list-unit-files|list-timers|list-sockets|list-jobs|list-dependencies|get-default|is-system-running)?$/.test(
        operands[0] ?? "",
      )
        ? undefined
        : "changes what the system runs",
  },
  cpio: {
    table: {
      entries: "itvopdmuBacLnV0",
      long: "--extract --list --create --verbose --make-directories --null --quiet --version",
    },
  },
  wget: {
    table: {
      entries: "qvncSNbrpkKmLHEx46",
      valued: "OPtTUwlADRIXo",
      long: "--quiet --verbose --no-verbose --continue --server-response --timestamping --spider --no-check-certificate --https-only --no-clobber --show-progress --version --help --inet4-only --inet6-only --no-parent --content-disposition",
      longValued:
        "--output-document --directory-prefix --tries --timeout --user-agent --header --wait --limit-rate --method --body-data --post-data --max-redirect --referer --quota --level --accept --reject --domains",
    },
  },
  openssl: { table: { stopAtOperand: true }, check: opensslCheck },
  bat: {
    table: {
      entries: "pnAuPf",
      valued: "lrHm",
      long: "--plain --number --show-all --list-languages --list-themes --version --help --no-pager",
      longValued:
        "--language --line-range --highlight-line --style --theme --wrap --color --decorations --tabs --terminal-width --file-name",
    },
  },
  fd: {
    table: {
      entries: "HIuLapgiFs01lqh",
      valued: "dteEScjo",
      long: "--hidden --no-ignore --unrestricted --follow --absolute-path --full-path --glob --ignore-case --fixed-strings --case-sensitive --print0 --list-details --quiet --help --version --regex --no-ignore-vcs --one-file-system --relative-path",
      longValued:
        "--max-depth --min-depth --exact-depth --type --extension --exclude --size --changed-within --changed-before --color --max-results --base-directory --search-path --threads --owner --and --strip-cwd-prefix",
    },
  },
};

function opensslCheck({ operands }: ReadArguments): string | undefined {
  const [command = "", ...rest] = operands;
  if (
    !/^(?:version|rand|dgst|md5|sha1|sha256|sha512|x509|verify|base64|enc|asn1parse|crl|prime|list|errstr|pkey|rsa|ec|genrsa|passwd|s_client|ciphers|help)$/.test(
      command,
    )
  )
    return "is given a command that can load code";
  return rest.some((word) =>
    /engine:|^--?(?:engine|provider|config|writer|passin|passout|pass|keyform|ssl_client_engine|psk|starttls_cmd|rand|writerand|keylogfile|sess_out)/.test(
      word,
    ),
  )
    ? "loads engines or providers"
    : undefined;
}

/** sqlite3 is plain only with -safe, which disables .shell, .system, extensions and files. */
const sqliteRule: Rule = (args) =>
  args.some((word) => word === "-safe" || word === "--safe") &&
  args.every(
    (word) =>
      !word.startsWith("-") ||
      /^--?(?:safe|readonly|json|csv|header|noheader|column|line|list|box|table|batch|bail|version)$/.test(word),
  )
    ? fine
    : concern("sqlite3 can run shell commands; it is plain only with -safe");

export const closedRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...Object.entries(programs).map(([name, closed]): [string, Rule] => [name, ruleOf(name, closed)]),
  ["sqlite3", sqliteRule],
]);

function ruleOf(name: string, { table, check }: Closed): Rule {
  return (args) => {
    const read = readOptions(args, table);
    if (read === undefined)
      return concern(`${name} can be made to run commands, and one of its options here is not among the harmless ones`);
    const wrong = check?.(read);
    return wrong === undefined ? fine : concern(`${name} ${wrong}`);
  };
}
