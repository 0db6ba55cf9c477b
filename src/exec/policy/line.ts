// Turns a shell syntax tree into a pipeline of words, or refuses it with the part that prevents it.
import type { AndOr, Assignment, Command, CommandNode, PipelineNode, Redirection, Statement, Word } from "unbash";

import { refuse } from "./refusal.ts";
import { plainText, readWord, textOf, type ShellWord } from "./word.ts";

export interface RawCommand {
  /** The program, then its arguments. */
  readonly words: readonly [ShellWord, ...ShellWord[]];
  readonly env: Readonly<Record<string, string>>;
  readonly errors?: "joined" | "dropped";
  readonly output?: "dropped";
  readonly input?: "empty";
}

export interface Line {
  /** Folders of leading `cd folder &&`, in order. */
  readonly folders: readonly string[];
  readonly commands: readonly RawCommand[];
}

const maxCommands = 32;

export function readLine(statements: readonly Statement[]): Line {
  const [only, ...more] = statements;
  if (only === undefined) return refuse("exec.no-command", "it contains no command");
  if (more.length > 0) refuse("exec.chain", `it contains ${statements.length} commands in a row`);
  if (only.background === true) refuse("exec.background", "it puts a command into the background with &");
  const { folders, pipeline } = afterFolders(only.command);
  const commands = commandsOf(pipeline);
  // `time` alone: a line without a program must not count as allowed.
  if (commands.length === 0) refuse("exec.no-command", "it contains no command");
  if (commands.length > maxCommands) refuse("exec.chain", `it has more than ${maxCommands} programs in one pipeline`);
  const raw = commands.map(readCommand);
  if (raw.some((command, index) => index > 0 && command.input !== undefined))
    refuse("exec.redirection", "it redirects the input of a program inside a pipeline");
  if (raw.some((command, index) => index < raw.length - 1 && command.output !== undefined))
    refuse("exec.redirection", "it redirects the output of a program inside a pipeline");
  return { folders, commands: raw };
}

/** `cd a && cd b && rest` is `rest` in another folder; no other chain is a single pipeline. */
function afterFolders(node: PipelineNode | AndOr): { folders: string[]; pipeline: PipelineNode } {
  if (node.type !== "AndOr") return { folders: [], pipeline: node };
  const last = node.commands.at(-1);
  const before = node.commands.slice(0, -1);
  if (last === undefined || node.operators.some((operator) => operator !== "&&"))
    return refuse("exec.chain", "it chains commands with ||");
  return { folders: before.map(folderOf), pipeline: last };
}

function folderOf(node: PipelineNode): string {
  const chained = (): never =>
    refuse("exec.chain", "it chains commands with && (only `cd folder &&` at the beginning is possible)");
  if (node.type !== "Command" || node.name?.text !== "cd" || node.prefix.length > 0) return chained();
  const words = node.suffix.map((part) => (part.type === "Word" ? plainText(readWord(part)) : chained()));
  const operands = words[0] === "--" ? words.slice(1) : words;
  const [folder, ...more] = operands;
  if (
    folder === undefined ||
    folder === "" ||
    more.length > 0 ||
    (folder.startsWith("-") && words[0] !== "--") ||
    folder === "-"
  )
    return refuse("exec.folder", "its cd has no single plain folder as argument");
  return folder;
}

function commandsOf(node: PipelineNode): readonly CommandNode[] {
  if (node.type !== "Pipeline") return [node];
  if (node.operators.includes("|&")) refuse("exec.redirection", "it pipes errors with |&");
  if (node.prefixes.some((prefix) => prefix.type === "Negation"))
    refuse("exec.keyword", "it inverts the exit status with !");
  return node.commands; // the keyword `time` is dropped, because every result contains the duration
}

function readCommand(node: CommandNode): RawCommand {
  return node.type === "Command"
    ? readSimpleCommand(node)
    : refuse("exec.compound", `it contains ${compoundName(node.type)}`);
}

export function readSimpleCommand(node: Command): RawCommand {
  const env = assignmentsOf(node);
  if (node.name === undefined) return refuse("exec.assignment", "it only sets variables or redirects");
  const args = node.args.map((argument): Word =>
    argument.type === "Word" ? argument : refuse("exec.assignment", `it assigns ${argument.name} with a shell builtin`),
  );
  return { words: [readWord(node.name), ...args.map(readWord)], env, ...streamsOf(node.redirects) };
}

function compoundName(type: Exclude<CommandNode["type"], "Command">): string {
  const names: Readonly<Record<string, string>> = {
    Function: "a function",
    Subshell: "a subshell ( … )",
    BraceGroup: "a group { … }",
    Coproc: "a coprocess",
    TestCommand: "a test [[ … ]]",
    ArithmeticCommand: "arithmetic (( … ))",
    Redirected: "a redirected group",
  };
  return names[type] ?? `a compound command (${type.toLowerCase()})`;
}

function assignmentsOf(node: Command): Readonly<Record<string, string>> {
  const found = node.prefix.filter((part): part is Assignment => part.type === "Assignment");
  return Object.fromEntries(found.map((assignment) => [assignment.name, valueOf(assignment)]));
}

function valueOf(assignment: Assignment): string {
  const { name, value } = assignment;
  if (value.type !== "Word" || assignment.append === true || assignment.index !== undefined)
    return refuse("exec.assignment", `it sets ${name} to more than plain text`);
  // A shell expands an unquoted ~ after = or :, but no wildcards.
  if (/(?:^|:)~/.test(value.text)) return refuse("exec.assignment", `the value of ${name} contains an unquoted ~`);
  return textOf(readWord(value));
}

interface Streams {
  readonly errors?: "joined" | "dropped";
  readonly output?: "dropped";
  readonly input?: "empty";
}

/** Follows descriptors 1 and 2 through the redirections in order, as a shell does. */
function streamsOf(redirects: readonly Redirection[]): Streams {
  let output: "out" | "null" = "out";
  let errors: "err" | "out" | "null" = "err";
  let input: "empty" | undefined;
  for (const redirect of redirects) {
    const move = moveOf(redirect);
    if (move === "<null") input = "empty";
    if (move === ">null" || move === "&>null") output = "null";
    if (move === "2>null" || move === "&>null") errors = "null";
    if (move === "2>&1") errors = output;
  }
  if (errors === "out" && output === "null") refuse("exec.redirection", "it swaps output and errors");
  return {
    ...(errors === "err" ? {} : { errors: errors === "out" ? "joined" : "dropped" }),
    ...(output === "null" ? { output: "dropped" } : {}),
    ...(input === undefined ? {} : { input }),
  };
}

type Move = "<null" | ">null" | "2>null" | "&>null" | "2>&1";

const moves: Readonly<Record<string, Move>> = {
  "0</dev/null": "<null",
  "1>/dev/null": ">null",
  "1>>/dev/null": ">null",
  "2>/dev/null": "2>null",
  "2>>/dev/null": "2>null",
  "&>/dev/null": "&>null",
  "2>&1": "2>&1",
};

function moveOf(redirect: Redirection): Move {
  if (redirect.type !== "Redirect") return refuse("exec.heredoc", "it contains a here-document or here-string");
  const { descriptor, operator, target } = redirect;
  if (descriptor?.type === "FileDescriptorVariable" || target === undefined)
    return refuse("exec.redirection", "it opens a named file descriptor");
  const from = descriptor?.value ?? (operator === "<" ? 0 : operator.startsWith("&") ? "" : 1);
  const to = plainText(readWord(target));
  const move = to === undefined ? undefined : moves[`${from}${operator}${to}`];
  return (
    move ?? refuse("exec.redirection", `it redirects (${from}${operator} …); only 2>&1 and /dev/null are possible`)
  );
}
