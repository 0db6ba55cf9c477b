// One program of a pipeline: its words made real, its wrappers taken off, its program found, its arguments judged.
import { basename } from "node:path";

import type { AnalysedSegment, Concern, Judged, Place } from "./analysis.ts";
import { concernOf } from "./argument-rules.ts";
import { guardedConcern } from "./guarded.ts";
import { leadsElsewhere } from "../environment.ts";
import type { RawCommand } from "./line.ts";
import type { Identity } from "./plan.ts";
import { identifyProgram, inTrustedFolder } from "./programs.ts";
import { refuse } from "./refusal.ts";
import { steersCode } from "./variables.ts";
import { expandWord } from "./wildcards.ts";
import { plainText, type ShellWord } from "./word.ts";
import { onlyPrints, unwrap, wrappers } from "./wrappers.ts";

const maxWrappers = 4;

/** Words of the shell that change its state or evaluate text. A program of the same name is never meant. */
const builtins = new Set(
  (
    ". : alias bg bind break builtin caller cd compgen complete compopt continue coproc declare dirs disown enable eval exec " +
    "exit export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set " +
    "shift shopt source suspend times trap type typeset ulimit umask unalias unset wait"
  ).split(" "),
);

/** What nobody sees, or takes for a blank, has no place in the name of a program. */
const unseen = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function analyseSegment(raw: RawCommand, place: Place): AnalysedSegment {
  const [nameWord, ...rest] = raw.words;
  const name = programName(nameWord, place);
  const written = [name, ...rest.flatMap((word) => expandWord(word, place))];
  checkVariables(raw.env);
  const layers = unwrapAll(written, place);
  const [outer, ...inner] = layers.programs;
  if (outer === undefined) return refuse("exec.no-program", "it names no program");
  const core = layers.programs.at(-1) ?? outer;
  const judged: Judged = {
    written: layers.written,
    argv: layers.argv.slice(layers.coreAt),
    path: core.path,
    real: core.real,
  };
  const { concern, scripts } = judgedArguments(judged, layers.concern ?? guardedConcern(layers.argv, place), place);
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
  place: Place,
): { readonly concern?: Concern; readonly scripts: readonly string[] } {
  const own = concernOf(judged, place);
  return { ...own, ...(concern === undefined ? {} : { concern }) };
}

function programName(word: ShellWord, place: Place): string {
  const plain = plainText(word);
  const name =
    plain ?? (word.tilde && word.pieces.every((piece) => !piece.wild) ? expandWord(word, place)[0] : undefined);
  if (name === undefined) return refuse("exec.pattern", "the program name contains a wildcard");
  return name;
}

function checkVariables(env: Readonly<Record<string, string>>): void {
  const steering = Object.keys(env).find((name) => steersCode(name) || leadsElsewhere(name, env[name] ?? ""));
  if (steering !== undefined)
    refuse("exec.variable", `it sets ${steering}, which can make programs run or load other code`);
}

interface Layers {
  /** As it will be started: the names of inner programs are absolute paths. */
  readonly argv: readonly string[];
  readonly coreAt: number;
  /** The name of the program that does the work, as it was written. */
  readonly written: string;
  /** Outermost first; the last one does the work. */
  readonly programs: readonly Identity[];
  readonly concern?: Concern;
}

function unwrapAll(words: readonly string[], place: Place): Layers {
  const programs: Identity[] = [];
  let argv = withoutCommandWord(words);
  let at = 0;
  while (programs.length <= maxWrappers) {
    const written = argv[at] ?? "";
    const found = locate(written, place);
    programs.push(found);
    argv = at === 0 ? argv : argv.with(at, found.path); // the wrapper looks the name up once more: it gets what we found
    const name = basename(found.path);
    if (!wrappers.has(name) || onlyPrints(name, argv.length - at)) return { argv, coreAt: at, written, programs };
    const inside = inTrustedFolder(found) ? unwrap(name, argv.slice(at)) : undefined;
    if (inside === undefined) return { argv, coreAt: at, written, programs, concern: closedWrapper(name) };
    checkVariables(inside.env);
    at += inside.at;
  }
  return refuse("exec.wrapper", `more than ${maxWrappers} wrapper programs are nested around it`);
}

/** `command ls` is `ls`: we never ask the shell's functions and aliases anyway. */
function withoutCommandWord(written: readonly string[]): readonly string[] {
  if (written[0] !== "command") return written;
  const [, next] = written;
  if (next === undefined || next.startsWith("-"))
    refuse("exec.builtin", "it uses an option of the shell builtin command");
  return withoutCommandWord(written.slice(1));
}

/** A wrapper in a form that is not in the table runs nobody knows what. */
const closedWrapper = (name: string): Concern => ({
  code: "exec.wrapper",
  reason: `${name} starts other programs, and its arguments are not in the plain form`,
});

function locate(name: string, place: Place): Identity {
  if (unseen.test(name)) return refuse("exec.unseen", "the program name contains invisible characters");
  if (builtins.has(name)) return refuse("exec.builtin", `${name} is a shell builtin`);
  return (
    identifyProgram(name, place) ?? refuse("exec.no-program", `program not found: ${JSON.stringify(name.slice(0, 80))}`)
  );
}
