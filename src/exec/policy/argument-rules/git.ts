// git: accepts listed subcommands without options that carry commands, in a repository whose settings start no program.
import type { AnalysisContext } from "../analysis.ts";
import { statOf } from "../programs.ts";
import { endOfOptions } from "./options.ts";
import { gitSettings, isLocalAddress, isPlainSetting, needsHelper, type GitSettings } from "./git-settings.ts";
import { concern, fine, type Finding, type Rule } from "./rule.ts";
import { resolve } from "node:path";

/** Subcommands that start no other program, and subcommands that run the repository's hooks. */
const plain =
  "status log diff show shortlog rev-parse rev-list ls-files ls-tree cat-file blame annotate branch tag describe remote reflog name-rev merge-base for-each-ref show-ref show-branch count-objects diff-tree diff-index diff-files grep whatchanged cherry range-diff check-ignore check-attr fsck format-patch ls-remote fetch init clone add rm mv restore stash clean version config worktree symbolic-ref apply submodule";
const hooked = "commit checkout switch reset merge rebase cherry-pick revert pull push";

const plainCommands = new Set(plain.split(" "));
const hookedCommands = new Set(hooked.split(" "));

const globalFlags =
  /^(?:--no-pager|-P|--no-optional-locks|--no-replace-objects|--literal-pathspecs|--glob-pathspecs|--noglob-pathspecs|--icase-pathspecs|--no-lazy-fetch)$/;

/** Hooks that run with nearly every command, because it writes the index or a branch. */
const quietHooks = /^(?:post-index-change|reference-transaction|post-checkout|pre-auto-gc|fsmonitor.*|query-watchman)$/;

/** Long options that start a program, write elsewhere or open an editor, with their abbreviations. */
const forbiddenLong =
  "--exec --upload-pack --receive-pack --output --output-directory --open-files-in-pager --ext-diff --textconv --config --template --tool --extcmd --interactive --edit --edit-todo --edit-description --patch-file --gpg-sign --help --web --recurse-submodules --remote-submodules --bundle-uri --exec-path --config-env --upload-archive --show-signature --verify-signatures --filters --patch --paginate --separate-git-dir --reedit-message --strategy --recursive --signature-file --signed --unsafe-paths --build-fake-ancestor --reject".split(
    " ",
  );

/** Single letters with the same effect, by subcommand. */
const forbiddenLetters: Readonly<Record<string, string>> = {
  grep: "O",
  rebase: "xis",
  clone: "cu",
  commit: "eSpc",
  tag: "suev",
  "format-patch": "o",
  merge: "eSs",
  "cherry-pick": "eS",
  revert: "eS",
  pull: "eSs",
  push: "",
  add: "eip",
  checkout: "p",
  reset: "p",
  restore: "p",
  stash: "p",
  clean: "i",
  init: "",
  "ls-remote": "",
};

/** Letters whose value may follow directly, by subcommand: the text after one is not a letter. Elsewhere every letter counts. */
const valuedLetters: Readonly<Record<string, string>> = {
  grep: "ABCefm",
  commit: "mFCtu",
  tag: "mF",
  merge: "mFX",
  "cherry-pick": "mX",
  revert: "mX",
  clone: "boj",
  pull: "jX",
  checkout: "bB",
  stash: "m",
  clean: "e",
  rebase: "C",
};

/** First words that make a subcommand harmful. */
const forbiddenFirst: Readonly<Record<string, RegExp>> = {
  remote: /^(?!-v$|--verbose$|show$|get-url$|add$|set-url$|remove$|rm$|rename$|$)/,
  submodule: /^(?!status$|$)/,
  reflog: /^(?:expire|delete)$/,
  worktree: /^(?!list$)/,
  "symbolic-ref": /^(?!(?:--short|-q|HEAD)$)/,
};

export const gitRule: Rule = (args, _judged, context) => {
  const opened = afterGlobals(args, context);
  if (opened === undefined)
    return concern("git is given an option before its subcommand that can run commands or use another folder");
  const [command, ...rest] = opened.rest;
  if (command === undefined || command === "--version" || command === "-v") return fine;
  const hooks = hookedCommands.has(command);
  if (!hooks && !plainCommands.has(command))
    return concern(`git ${command.slice(0, 30)} can run other programs, or is an alias`);
  const wrong = argumentProblem(command, rest);
  if (wrong !== undefined) return concern(`git ${command} ${wrong}`);
  const settings = gitSettings(opened.cwd);
  const local = localRepository(command, rest, opened.cwd, settings);
  if (local !== undefined)
    return concern(
      `git ${command} reaches a repository on this machine, whose own hooks and settings would run: ${local}`,
    );
  return settingsFinding(settings, hooks);
};

/** Options of remote commands whose value is the next word. */
const valuedWords =
  /^(?:-[bojc]|--branch|--origin|--depth|--deepen|--jobs|--reference|--reference-if-able|--push-option|--shallow-since|--shallow-exclude|--refmap|--server-option|--negotiation-tip|--sort)$/;

/**
 * A repository on this machine that the command names or that one of its remotes refers to. The environment of the run forbids
 * this transport as well; this check comes earlier, while the owner can still be asked.
 */
function localRepository(
  command: string,
  args: readonly string[],
  cwd: string,
  { local, remotes }: GitSettings,
): string | undefined {
  if (!/^(?:clone|fetch|pull|push|ls-remote)$/.test(command)) return undefined;
  const operands = args.filter((word, at) => !word.startsWith("-") && !valuedWords.test(args[at - 1] ?? ""));
  const values = args.flatMap((word) => /^--(?:repo|url)=(.*)$/s.exec(word)?.slice(1) ?? []);
  const [first] = [...values, ...operands];
  if (first === undefined) return local[0];
  // After the address, clone takes the folder to create; the other commands take what to transfer.
  const isPath = (word: string): boolean => /^(?:file:|[/~]|\.\.?(?:\/|$))/i.test(word);
  const named = [first, ...(command === "clone" ? [] : operands)].find(isPath);
  if (named !== undefined) return named;
  if (args.some((word) => /^--(?:all|mu)/.test(word))) return local[0];
  if (remotes.includes(first) && command !== "clone") return local.includes(first) ? first : undefined;
  const isThere = ["", ".git", ".bundle"].some((end) => statOf(resolve(cwd, first + end)) !== undefined);
  return isLocalAddress(first) && isThere ? first : undefined;
}

/** Programs that start git in their folder, so that the settings of its repository apply to them too. */
export const gitUsers: readonly string[] = ["gh", "gitleaks", "trufflehog", "starship", "ghq"];

export const gitUserRule: Rule = (_args, _judged, context) => settingsFinding(gitSettings(context.cwd), true);

function settingsFinding(settings: GitSettings, hooks: boolean): Finding {
  if (settings.problem !== undefined)
    return concern(`the repository's own settings can run programs: ${settings.problem}`);
  const run = hooks ? settings.hooks : settings.hooks.filter((name) => quietHooks.test(name));
  if (run.length > 0) return concern(`the repository has hooks that would run: ${run.slice(0, 3).join(", ")}`);
  return settings.files.length === 0 ? fine : { scripts: settings.files };
}

function afterGlobals(
  args: readonly string[],
  context: AnalysisContext,
): { readonly rest: readonly string[]; readonly cwd: string } | undefined {
  let cwd = context.cwd;
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "-C") {
      const folder = args[++at];
      if (folder === undefined) return undefined;
      cwd = resolve(cwd, folder);
      continue;
    }
    if (word === "-c") {
      const [name = "", ...value] = args[++at]?.split("=") ?? [];
      if (!isPlainSetting(name, value.length === 0 ? undefined : value.join("="))) return undefined;
      continue;
    }
    if (globalFlags.test(word)) continue;
    if (word.startsWith("-") && word !== "--version" && word !== "-v") return undefined;
    break;
  }
  return { rest: args.slice(at), cwd };
}

function argumentProblem(command: string, given: readonly string[]): string | undefined {
  const args = withoutKnownStrategy(command, given);
  const end = args.indexOf("--");
  const options = args.slice(0, endOfOptions(args)).filter((word) => word.startsWith("-"));
  // `stash show -p` prints; the other forms ask about each hunk.
  const entries = command === "stash" && args[0] === "show" ? "" : (forbiddenLetters[command] ?? "");
  const bad = options.find((word) => isForbidden(word, entries, valuedLetters[command] ?? ""));
  if (bad !== undefined)
    return `can run programs, open an editor or write elsewhere with ${bad.replace(/=.*/s, "=…").slice(0, 40)}`;
  if (command === "config") return configProblem(args);
  if (forbiddenFirst[command]?.test(args[0] ?? "") === true) return "changes what later commands do";
  if (reaching.test(command) && args.some((word) => needsHelper(word.replace(/^--[a-z-]+=/, ""))))
    return "names a transport helper";
  if (
    reaching.test(command) &&
    (args.some(isDashed) || (end >= 0 && args.slice(end).some((word) => /^-[^-]/.test(word))))
  )
    return "names a host that a remote shell would read as an option";
  if (args.some((word) => word.includes("%G"))) return "checks signatures with another program";
  if (command === "format-patch" && !args.includes("--stdout")) return "writes files: give --stdout";
  if (command === "pull" && args.some((word) => /^(?:--rebase|-r)=?(?:i|interactive)$/.test(word)))
    return "would open an editor";
  // The todo list of an unfinished rebase is in the repository, and its exec lines would run.
  if (command === "rebase" && options.some((word) => /^--(?:co|sk)/.test(word)))
    return "continues a list of steps that anyone could have written";
  if (command === "commit" && !hasMessage(args)) return "would open an editor: give -m";
  return undefined;
}

/** A strategy is a program git-merge-<name>, unless it is built into git. */
function withoutKnownStrategy(command: string, args: readonly string[]): readonly string[] {
  const known = /^(?:ort|recursive|resolve|ours|subtree|octopus)$/;
  const short = /^(?:merge|rebase|pull)$/.test(command);
  const isOption = (word: string): boolean => word === "--strategy" || (short && word === "-s");
  const isPair = (at: number): boolean => isOption(args[at] ?? "") && known.test(args[at + 1] ?? "");
  return args.filter((word, at) => !isPair(at) && !isPair(at - 1) && !/^--strategy=(?:ort|ours)$/.test(word));
}

/** Reading is allowed; so is a setting of this repository that is known to start no program. */
function configProblem(args: readonly string[]): string | undefined {
  const words = args.filter(
    (word) => !/^(?:--local|--show-origin|--show-scope|--name-only|--null|-z|--global|--system)$/.test(word),
  );
  if (
    words.some((word) => /^(?:-f|-e|--file|--blob|--edit|--add|--replace|--unset|--remove|--rename|unset)/.test(word))
  )
    return "changes or opens settings";
  const [first = "", ...rest] = words;
  if (/^(?:--get|--get-all|--get-regexp|--list|-l|get|list)$/.test(first)) return undefined;
  if (rest.length === 0 && /^[a-z][a-z0-9-]*\.[a-z0-9.-]+$/i.test(first)) return undefined;
  const [key = "", value = "", ...more] = first === "set" ? rest : words;
  const own = !args.includes("--global") && !args.includes("--system") && more.length === 0 && !value.startsWith("-");
  return own && rest.length > 0 && isPlainSetting(key, value) ? undefined : "changes settings";
}

const reaching = /^(?:clone|fetch|pull|push|ls-remote|remote)$/;

/** ssh://-o…/x and user@-o…: older versions of git passed these to ssh as options. */
const isDashed = (word: string): boolean => /(?:\/\/|@)-/.test(word);

const hasMessage = (args: readonly string[]): boolean =>
  args.some((word) => /^(?:-[a-zA-Z]*[mFC]|--message|--file|--no-edit|--fixup|--reuse-message|--dry-run)/.test(word));

const safeLong = new Set([
  "--output-indicator-new",
  "--output-indicator-old",
  "--no-edit",
  "--no-gpg-sign",
  "--patch-with-stat",
  "--filter",
  "--strategy-option",
  "--signoff",
]);

function isForbidden(word: string, entries: string, valued: string): boolean {
  if (!word.startsWith("--")) return Array.from(clusterOf(word, valued)).some((entry) => entries.includes(entry));
  const written = word.replace(/=.*$/s, "");
  if (written === "--" || safeLong.has(written)) return false;
  // diff and log print patches with --patch and -p; only interactive subcommands do more.
  if (written === "--patch") return entries.includes("p");
  return forbiddenLong.some((option) => option.startsWith(written) && option !== "--patch");
}

/** `-m text` and `-mtext`: the text after a letter that takes a value contains no letters. */
function clusterOf(word: string, valued: string): string {
  const all = word.slice(1);
  const at = Array.from(all).findIndex((entry) => valued.includes(entry));
  return at < 0 ? all : all.slice(0, at + 1);
}
