// For programs without rules: rejects arguments that contain a shell command, and options whose name says they take one.
import printOnlyPrograms from "../data/print-only-programs.json" with { type: "json" };
import type { AnalysisContext } from "../analysis.ts";
import { identifyProgram } from "../programs.ts";
import { familyNames } from "./names.ts";
import { isShell, neverByAllowlist } from "./never.ts";
import { concern, fine, type Finding } from "./rule.ts";

/** Programs that only print or compare what they are given. */
const readers: ReadonlySet<string> = new Set(printOnlyPrograms);

const inlineShell = /(?:^|[\s;|&/("'`=])(?:ba|da|z|k|c|tc|fi|a)?sh\s+-[a-z]*c\b/;

/** Values that mean none or the default instead of a command. */
const switched = "(?!(?:true|false|yes|no|on|off|none|auto|never|always|\\d+)?$)";

/** `--exec x`, `-exec x`, `--on-exec=x`, `-load=x`. */
const takesCommand = new RegExp(
  `^--?(?:(?:[a-z0-9-]*-)?(?:exec|exec-batch|exec-path|execute|execdir|eval|evaluate|command|cmd|program|shell|rsh|pager|editor|preload|hook|plugin|checkpoint-action|load-module|load-extension|script|script-file|plugins?-dir)|load|fplugin|fpass-plugin|proxycommand|interpreter)(?:=${switched}|$)`,
  "i",
);

/** A setting inside a word: `sftp.command=x`, `:sftp,ssh=x:`, `config:tunnels:x=y`, `core.editor=x`. */
const setsCommand = new RegExp(
  `(?:^|[.,:;?&_-])(?:command|cmd|exec|ssh|sshcommand|rsh|shell|program|pager|editor|hook|plugin|helper|tunnels?:[^=]*|proxycommand|localcommand|preload|interpreter)=${switched}`,
  "i",
);

export function findNestedCommand(
  names: readonly string[],
  args: readonly string[],
  context: AnalysisContext,
): Finding {
  if (names.some((name) => readers.has(name))) return fine;
  const at = args.findIndex((word, index) => runsCode(word, args[index + 1]));
  if (at >= 0) return concern(`its arguments contain a command for ${(args[at] ?? "").slice(0, 40)}`);
  if (args.some((word) => inlineShell.test(word))) return concern("one of its arguments contains a shell command");
  const line = args.find((word) => containsCommand(word, context));
  if (line !== undefined) return concern(`its argument ${JSON.stringify(line.slice(0, 40))} reads like a command`);
  const option = args.find((word) => takesCommand.test(word) || setsCommand.test(word));
  return option === undefined
    ? fine
    : concern(`its option ${option.replace(/=.*/s, "=…").slice(0, 40)} takes a command`);
}

/** `sh -c …`, `python3 -c …`, or `env …` before an option. */
function runsCode(word: string, next: string | undefined): boolean {
  if (next === undefined || !/^-[A-Za-z]*[cCers]/.test(next)) return false;
  if (word.startsWith("-") || !/^[A-Za-z0-9_./+-]+$/.test(word)) return false;
  const names = familyNames(word);
  return names.some(
    (name) =>
      isShell(name) ||
      /^(?:python|node|perl|ruby|php|lua|awk|env)$/.test(name) ||
      neverByAllowlist.get(name)?.group === "multi-call",
  );
}

/** One word that is a program with operands, as in `--on-end='touch /x'`; a sentence contains no paths or options. */
function containsCommand(word: string, context: AnalysisContext): boolean {
  const [program = "", ...rest] = word
    .replace(/^--?[A-Za-z0-9-]+=/, "")
    .trim()
    .split(/\s+/, 50);
  if (!rest.some((part) => /^(?:[/~|>&;-]|\.\.?\/)/.test(part)) || !/^[\w./+-]+$/.test(program)) return false;
  return identifyProgram(program, context) !== undefined;
}
