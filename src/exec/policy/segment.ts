// Analyzes one program of a pipeline: expands its words, removes wrappers, finds the program and judges its arguments.
import { basename } from "node:path";

import type { AnalyzedSegment, Concern, Judged, AnalysisContext } from "./analysis.ts";
import { concernOf } from "./argument-rules.ts";
import { guardedConcern } from "./guarded.ts";
import { isUnsafeValue } from "../environment.ts";
import type { RawCommand } from "./line.ts";
import type { Identity } from "./plan.ts";
import { identifyProgram, inTrustedFolder } from "./programs.ts";
import { refuse } from "./refusal.ts";
import shellBuiltins from "./data/shell-builtins.json" with { type: "json" };
import { controlsCode } from "./variables.ts";
import { expandWord } from "./wildcards.ts";
import { plainText, type ShellWord } from "./word.ts";
import { onlyPrints, unwrap, wrappers } from "./wrappers.ts";

const maxWrappers = 4;

/** Shell builtins that change its state or evaluate text; they never refer to a program of the same name. */
const builtins: ReadonlySet<string> = new Set(shellBuiltins);

/** Invisible characters and unusual spaces are not allowed in a program name. */
const invisible = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function analyzeSegment(raw: RawCommand, context: AnalysisContext): AnalyzedSegment {
  const [nameWord, ...rest] = raw.words;
  const name = programName(nameWord, context);
  const written = [name, ...rest.flatMap((word) => expandWord(word, context))];
  checkVariables(raw.env);
  const layers = unwrapAll(written, context);
  const [outer, ...inner] = layers.programs;
  if (outer === undefined) return refuse("exec.no-program", "it names no program");
  const core = layers.programs.at(-1) ?? outer;
  const judged: Judged = {
    written: layers.written,
    argv: layers.argv.slice(layers.coreAt),
    path: core.path,
    real: core.real,
  };
  const { concern, scripts } = judgedArguments(judged, layers.concern ?? guardedConcern(layers.argv, context), context);
  return {
    argv: layers.argv,
    program: outer,
    ...(inner.length === 0 ? {} : { inner }),
    env: raw.env,
    ...(raw.errors === undefined ? {} : { errors: raw.errors }),
    ...(raw.output === undefined ? {} : { output: raw.output }),
    ...(raw.input === undefined ? {} : { input: raw.input }),
    judged,
    wrappers: layers.programs.slice(0, -1).map(({ path }) => basename(path)),
    expanded: rest.some((word) => plainText(word) === undefined),
    ...(concern === undefined ? {} : { concern }),
    scripts,
  };
}

function judgedArguments(
  judged: Judged,
  concern: Concern | undefined,
  context: AnalysisContext,
): { readonly concern?: Concern; readonly scripts: readonly string[] } {
  const own = concernOf(judged, context);
  return { ...own, ...(concern === undefined ? {} : { concern }) };
}

function programName(word: ShellWord, context: AnalysisContext): string {
  const plain = plainText(word);
  const name =
    plain ?? (word.tilde && word.pieces.every((piece) => !piece.wild) ? expandWord(word, context)[0] : undefined);
  if (name === undefined) return refuse("exec.pattern", "the program name contains a wildcard");
  return name;
}

function checkVariables(env: Readonly<Record<string, string>>): void {
  const controlling = Object.keys(env).find((name) => controlsCode(name) || isUnsafeValue(name, env[name] ?? ""));
  if (controlling !== undefined)
    refuse("exec.variable", `it sets ${controlling}, which can make programs run or load other code`);
}

interface Layers {
  /** As it will start: inner programs are absolute paths. */
  readonly argv: readonly string[];
  readonly coreAt: number;
  /** The name of the program that does the work, as written. */
  readonly written: string;
  /** Outermost first; the last one does the work. */
  readonly programs: readonly Identity[];
  readonly concern?: Concern;
}

function unwrapAll(words: readonly string[], context: AnalysisContext): Layers {
  const programs: Identity[] = [];
  let argv = withoutCommandWord(words);
  let at = 0;
  while (programs.length <= maxWrappers) {
    const written = argv[at] ?? "";
    const found = locate(written, context);
    programs.push(found);
    argv = at === 0 ? argv : argv.with(at, found.path); // the wrapper would search again, so it gets the path
    const name = basename(found.path);
    if (!wrappers.has(name) || onlyPrints(name, argv.length - at)) return { argv, coreAt: at, written, programs };
    const inside = inTrustedFolder(found) ? unwrap(name, argv.slice(at)) : undefined;
    if (inside === undefined) return { argv, coreAt: at, written, programs, concern: closedWrapper(name) };
    checkVariables(inside.env);
    at += inside.at;
  }
  return refuse("exec.wrapper", `more than ${maxWrappers} wrapper programs are nested around it`);
}

/** `command ls` is `ls`, because shell functions and aliases are never used. */
function withoutCommandWord(written: readonly string[]): readonly string[] {
  if (written[0] !== "command") return written;
  const [, next] = written;
  if (next === undefined || next.startsWith("-"))
    refuse("exec.builtin", "it uses an option of the shell builtin command");
  return withoutCommandWord(written.slice(1));
}

/** A wrapper with arguments that are not in the table could run anything. */
const closedWrapper = (name: string): Concern => ({
  code: "exec.wrapper",
  reason: `${name} starts other programs, and its arguments are not ones we can read safely`,
});

function locate(name: string, context: AnalysisContext): Identity {
  if (invisible.test(name)) return refuse("exec.unseen", "the program name contains invisible characters");
  if (builtins.has(name)) return refuse("exec.builtin", `${name} is a shell builtin`);
  return (
    identifyProgram(name, context) ??
    refuse("exec.no-program", `program not found: ${JSON.stringify(name.slice(0, 80))}`)
  );
}
