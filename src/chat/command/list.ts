// Every command, in the order people read them.
import { OpenClawError } from "../../core/error.ts";
import type { DirectiveRule } from "../parse.ts";
import type { Command, Directive } from "../command-run.ts";
import { approve } from "./approve.ts";
import { bash } from "./bash.ts";
import { commands } from "./commands.ts";
import { compact } from "./compact.ts";
import { configCommand } from "./config.ts";
import { context } from "./context.ts";
import { debug } from "./debug.ts";
import { elevated } from "./elevated.ts";
import { exec } from "./exec.ts";
import { help } from "./help.ts";
import { model } from "./model.ts";
import { fresh } from "./new.ts";
import { queue } from "./queue.ts";
import { reasoning } from "./reasoning.ts";
import { restart } from "./restart.ts";
import { send } from "./send.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { subagents } from "./subagents.ts";
import { think } from "./think.ts";
import { tool } from "./tool.ts";
import { undo } from "./undo.ts";
import { usage } from "./usage.ts";
import { verbose } from "./verbose.ts";
import { whoami } from "./whoami.ts";

export const directives: readonly Directive[] = [model, think, verbose, reasoning, elevated, exec, queue];

const allCommands: readonly Command[] = [
  help(() => allCommands),
  commands(() => allCommands),
  status,
  whoami,
  fresh,
  stop,
  subagents,
  ...directives,
  usage,
  context,
  compact,
  undo,
  tool,
  bash,
  approve,
  send,
  configCommand,
  debug,
  restart,
];

const spellings = ({ name, aliases = [] }: Command): string[] => [name, ...aliases];

const wordsFor = (chosen: readonly Command[]): ReadonlyMap<string, string> =>
  new Map(chosen.flatMap((command) => spellings(command).map((word) => [word, command.name])));

const isDirective = (command: Command): command is Directive => "claims" in command;

export const shortcutWords = wordsFor(allCommands.filter(({ shortcut }) => shortcut === true));

/** Those that must be a whole message. */
export const commandWords = wordsFor(
  allCommands.filter((command) => command.shortcut !== true && !isDirective(command)),
);

export const directiveWords: ReadonlyMap<string, DirectiveRule> = new Map(
  directives.flatMap((directive) => spellings(directive).map((word) => [word, directive])),
);

export function commandNamed(name: string): Command {
  return found(
    allCommands.find((command) => command.name === name),
    name,
  );
}

export function directiveNamed(name: string): Directive {
  return found(
    directives.find((directive) => directive.name === name),
    name,
  );
}

function found<T>(command: T | undefined, name: string): T {
  if (command !== undefined) return command;
  throw new OpenClawError("chat.no-command", `there is no command /${name}`, { hint: "/commands" });
}
