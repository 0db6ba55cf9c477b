// Rewrites a command line in equivalent ways: quoting, line continuation, wrappers, nesting, case, invisible characters.
import fc from "fast-check";

export interface Mutation {
  readonly name: string;
  /** `pick` returns a number below its argument. */
  apply(command: string, pick: (below: number) => number): string;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const wrappers = [
  "env",
  "nice",
  "timeout 5",
  "nohup",
  "stdbuf -oL",
  "setsid",
  "command",
  "/usr/bin/env",
  "nice -n 5",
  "time",
  "env A=1",
  "ionice",
];
const shells = ["sh", "bash", "/bin/sh", "dash", "env sh", "busybox sh", "nice bash"];
const unseen = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u3164", "\u00a0", "\u034f"];

/** Inserts `text` at a position outside quotes, as far as a simple count can tell. */
function inserted(command: string, at: number, text: string): string {
  return command.slice(0, at) + text + command.slice(at);
}

export const mutations: readonly Mutation[] = [
  { name: "line continuation", apply: (command, pick) => inserted(command, pick(command.length + 1), "\\\n") },
  {
    name: "empty quotes",
    apply: (command, pick) => inserted(command, pick(command.length + 1), pick(2) === 0 ? "''" : '""'),
  },
  { name: "backslash", apply: (command, pick) => inserted(command, pick(command.length + 1), "\\") },
  {
    name: "first word quoted",
    apply: (command) => command.replace(/^\S+/, (word) => (/['"\\$`]/.test(word) ? word : quote(word))),
  },
  {
    name: "first word as $'…'",
    apply: (command) =>
      command.replace(/^\S+/, (word) =>
        /['"\\$`]/.test(word)
          ? word
          : `$'${Array.from(word, (char) => `\\x${char.codePointAt(0)?.toString(16).padStart(2, "0") ?? ""}`).join("")}'`,
      ),
  },
  { name: "wrapper", apply: (command, pick) => `${wrappers[pick(wrappers.length)] ?? "env"} ${command}` },
  { name: "shell inside", apply: (command, pick) => `${shells[pick(shells.length)] ?? "sh"} -c ${quote(command)}` },
  { name: "shell fed", apply: (command, pick) => `echo ${quote(command)} | ${shells[pick(shells.length)] ?? "sh"}` },
  { name: "upper case", apply: (command, pick) => flipped(command, pick) },
  {
    name: "unseen character",
    apply: (command, pick) => inserted(command, pick(command.length + 1), unseen[pick(unseen.length)] ?? "\u200b"),
  },
  {
    name: "behind an allowed command",
    apply: (command, pick) =>
      `ls${["; ", " && ", " || ", "\n", " & ", " | ", "\r\n", " |& "][pick(8)] ?? ";"}${command}`,
  },
  {
    name: "before an allowed command",
    apply: (command, pick) => `${command}${["; ls", " && ls", "\nls", " | ls", " # ls"][pick(5)] ?? ";ls"}`,
  },
  {
    name: "substitution",
    apply: (command, pick) =>
      [
        `ls $(${command})`,
        `ls "$(${command})"`,
        `ls \`${command}\``,
        `ls <(${command})`,
        `(${command})`,
        `{ ${command}; }`,
      ][pick(6)] ?? command,
  },
  {
    name: "blanks",
    apply: (command, pick) => command.replace(" ", ["\t", "  ", "\\ ", "${IFS}", "\v"][pick(5)] ?? " "),
  },
  {
    name: "redirected",
    apply: (command, pick) => `${command} ${["2>&1", ">/dev/null", "<x", "2>x", "</dev/null"][pick(5)] ?? ""}`,
  },
  { name: "doubled slash", apply: (command) => command.replace("/", "//") },
  { name: "path by a detour", apply: (command) => command.replace(/^([a-z]+)/, "/usr/../usr/bin/./$1") },
  {
    name: "assignment",
    apply: (command, pick) => `${["A=1", "PATH=/tmp", "LD_PRELOAD=x", "IFS=x"][pick(4)] ?? "A=1"} ${command}`,
  },
];

function flipped(command: string, pick: (below: number) => number): string {
  const at = pick(command.length);
  const char = command[at] ?? "";
  return (
    command.slice(0, at) +
    (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase()) +
    command.slice(at + 1)
  );
}

/** One to three mutations in a row, with the numbers that they use. */
export const mutationChain: fc.Arbitrary<{ readonly steps: readonly Mutation[]; readonly seeds: readonly number[] }> =
  fc.record({
    steps: fc.array(fc.constantFrom(...mutations), { minLength: 1, maxLength: 3 }),
    seeds: fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
  });

export function mutated(
  command: string,
  { steps, seeds }: { readonly steps: readonly Mutation[]; readonly seeds: readonly number[] },
): string {
  let used = 0;
  const pick = (below: number): number => (below === 0 ? 0 : (seeds[used++ % seeds.length] ?? 0) % below);
  return steps.reduce((text, step) => step.apply(text, pick), command);
}
