// git: a closed list of subcommands, none of the options that carry commands, and a repository whose settings carry none.
import type { Place } from "../analysis.ts";
import { gitSettings, needsHelper } from "./git-settings.ts";
import { concern, fine, type Finding, type Rule } from "./rule.ts";
import { resolve } from "node:path";

/** Subcommands by what else they start: nothing, or the hooks of the repository. */
const plain =
  "status log diff show shortlog rev-parse rev-list ls-files ls-tree cat-file blame annotate branch tag describe remote reflog name-rev merge-base for-each-ref show-ref show-branch count-objects diff-tree diff-index diff-files grep whatchanged cherry range-diff check-ignore check-attr verify-commit ls-remote fetch init clone add rm mv restore stash clean version config worktree symbolic-ref";
const hooked = "commit checkout switch reset merge rebase cherry-pick revert pull push";

const plainCommands = new Set(plain.split(" "));
const hookedCommands = new Set(hooked.split(" "));

const globalFlags =
  /^(?:--no-pager|-P|--no-optional-locks|--no-replace-objects|--literal-pathspecs|--glob-pathspecs|--noglob-pathspecs|--icase-pathspecs|--no-lazy-fetch)$/;

/** Hooks that run on nearly every command, because the index or a branch is written. */
const quietHooks = /^(?:post-index-change|reference-transaction|post-checkout|pre-auto-gc|fsmonitor.*|query-watchman)$/;

/** Long options of any subcommand that start something, write elsewhere or open an editor; shortened ones count too. */
const forbiddenLong =
  "--exec --upload-pack --receive-pack --output --output-directory --open-files-in-pager --ext-diff --textconv --config --template --tool --extcmd --interactive --edit --edit-todo --edit-description --patch-file --gpg-sign --help --web --recurse-submodules --remote-submodules --bundle-uri --exec-path --config-env --upload-archive --show-signature --verify-signatures --filters --patch --paginate --separate-git-dir --reedit-message --strategy".split(
    " ",
  );

/** Single letters that do so, by subcommand. */
const forbiddenLetters: Readonly<Record<string, string>> = {
  grep: "O",
  rebase: "xis",
  clone: "cu",
  commit: "eSpc",
  tag: "sue",
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

/** Words that are no subcommand of the harmless kind. */
const forbiddenFirst: Readonly<Record<string, RegExp>> = {
  remote: /^(?!-v$|--verbose$|show$|get-url$|$)/,
  reflog: /^(?:expire|delete)$/,
  config: /^(?!(?:--get|--get-all|--get-regexp|--list|-l|get|list|--show-origin|--show-scope)$)/,
  worktree: /^(?!list$)/,
  "symbolic-ref": /^(?!(?:--short|-q|HEAD)$)/,
};

export const gitRule: Rule = (args, _judged, place) => {
  const opened = afterGlobals(args, place);
  if (opened === undefined)
    return concern("git is given an option in front of its subcommand that can run commands or lead elsewhere");
  const [command, ...rest] = opened.rest;
  if (command === undefined || command === "--version" || command === "-v") return fine;
  const hooks = hookedCommands.has(command);
  if (!hooks && !plainCommands.has(command))
    return concern(`git ${command.slice(0, 30)} can run other programs, or is an alias`);
  const wrong = argumentProblem(command, rest);
  if (wrong !== undefined) return concern(`git ${command} ${wrong}`);
  return settingsFinding(opened.cwd, hooks);
};

function settingsFinding(cwd: string, hooks: boolean): Finding {
  const settings = gitSettings(cwd);
  if (settings.problem !== undefined)
    return concern(`the repository's own settings can run programs: ${settings.problem}`);
  const run = hooks ? settings.hooks : settings.hooks.filter((name) => quietHooks.test(name));
  if (run.length > 0) return concern(`the repository has hooks that would run: ${run.slice(0, 3).join(", ")}`);
  return settings.files.length === 0 ? fine : { scripts: settings.files };
}

function afterGlobals(
  args: readonly string[],
  place: Place,
): { readonly rest: readonly string[]; readonly cwd: string } | undefined {
  let cwd = place.cwd;
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "-C") {
      const folder = args[++at];
      if (folder === undefined) return undefined;
      cwd = resolve(cwd, folder);
      continue;
    }
    if (globalFlags.test(word)) continue;
    if (word.startsWith("-") && word !== "--version" && word !== "-v") return undefined;
    break;
  }
  return { rest: args.slice(at), cwd };
}

function argumentProblem(command: string, args: readonly string[]): string | undefined {
  const end = args.indexOf("--");
  const options = (end < 0 ? args : args.slice(0, end)).filter((word) => word.startsWith("-"));
  const letters = forbiddenLetters[command] ?? "";
  const bad = options.find((word) => isForbidden(word, letters));
  if (bad !== undefined)
    return `can run programs, open an editor or write elsewhere by ${bad.replace(/=.*/s, "=…").slice(0, 40)}`;
  if (
    command === "config" &&
    args.some((word) =>
      /^(?:-f|-e|--file|--blob|--edit|--add|--replace|--unset|--remove|--rename|set|unset)/.test(word),
    )
  )
    return "changes or opens settings";
  if (forbiddenFirst[command]?.test(args[0] ?? "") === true) return "changes what later commands do";
  if (
    /^(?:clone|fetch|pull|push|ls-remote|remote)$/.test(command) &&
    args.some((word) => needsHelper(word.replace(/^--[a-z-]+=/, "")))
  )
    return "names a transport helper";
  // The list of a rebase under way lies in the repository, and its exec lines would run.
  if (command === "rebase" && options.some((word) => /^--(?:co|sk|ab|qu)/.test(word)))
    return "goes on with a list anybody could have written";
  if (command === "commit" && !saysMessage(args)) return "would open an editor: give -m";
  return undefined;
}

const saysMessage = (args: readonly string[]): boolean =>
  args.some((word) => /^(?:-[a-zA-Z]*[mFC]|--message|--file|--no-edit|--fixup|--reuse-message|--dry-run)/.test(word));

const safeLong = new Set([
  "--output-indicator-new",
  "--output-indicator-old",
  "--no-edit",
  "--no-gpg-sign",
  "--patch-with-stat",
  "--filter",
  "--strategy-option",
]);

function isForbidden(word: string, letters: string): boolean {
  if (!word.startsWith("--")) return Array.from(clusterOf(word)).some((letter) => letters.includes(letter));
  const written = word.replace(/=.*$/s, "");
  if (written === "--" || safeLong.has(written)) return false;
  // diff and log print patches by --patch and -p: only where it asks questions is it more than that.
  return forbiddenLong.some(
    (option) => option.startsWith(written) && !(option === "--patch" && letters.indexOf("p") < 0),
  );
}

/** `-m text` and `-mtext`: what follows a letter that takes a value is not a letter. */
const clusterOf = (word: string): string => word.slice(1).replace(/[mFCnUGSLO].*$/s, (rest) => rest[0] ?? "");
