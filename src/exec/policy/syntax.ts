// Wraps the shell parser: loads it on first use, checks the text before and the tree after parsing.
import type { ParsedScript, Statement, SyntaxNode } from "unbash";

import { OpenClawError } from "../../core/error.ts";
import { lazy } from "../../base/lazy.ts";
import { readSimpleCommand, type RawCommand } from "./line.ts";
import { Refusal, refuse } from "./refusal.ts";
import { textOf } from "./word.ts";
import type { AnalyzedSegment } from "./analysis.ts";

export interface Parsed {
  readonly statements: readonly Statement[];
  readonly errors: readonly string[];
  readonly openHereDoc: boolean;
  readonly commands: readonly SyntaxNode[];
}

interface Parser {
  read(command: string): Parsed;
}

/** Longer lines are not parsed: the approval card could not show them, and parsing must end soon. */
const maxCommandChars = 16_000;

export const { get: loadParser } = lazy(async (): Promise<Parser> => {
  const { parse, forEachChild } = await import("unbash");
  return {
    read(command: string): Parsed {
      const script = refuseDeepNesting(() => parse(command));
      const errors: string[] = [];
      const commands: SyntaxNode[] = [];
      let openHereDoc = false;
      const visit = (node: SyntaxNode): void => {
        if (node.type === "Script") errors.push(...messagesOf(node));
        if (node.type === "Command") commands.push(node);
        if (node.type === "HereDoc" && node.closing === undefined) openHereDoc = true;
        forEachChild(node, visit);
      };
      refuseDeepNesting(() => visit(script));
      return { statements: script.commands, errors, openHereDoc, commands };
    },
  };
});

/** Parsing and visiting recurse with the text; text that is nested deeper than the stack is refused. */
function refuseDeepNesting<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return refuse("exec.too-deep", "it is nested too deeply");
    throw error;
  }
}

/** Rejects text that no shell could read. */
export function checkText(command: string): void {
  if (command.includes("\0")) throw badCommand("it contains a NUL character");
  if (command.trim() === "") throw badCommand("it is empty");
}

/** Rejects open quotes and here-documents, and refuses lines with other syntax errors. */
export function refuseUnfinished(parsed: Parsed): void {
  const open = parsed.openHereDoc
    ? "a here-document has no end"
    : parsed.errors.find((message) => message.includes("unterminated"));
  if (open !== undefined) throw badCommand(open);
  const [first] = parsed.errors;
  if (first !== undefined) refuse("exec.syntax", `its syntax is not understood: ${first}`);
}

/** Refuses text that people, shells and programs read differently. */
export function refuseAmbiguousText(command: string): void {
  if (command.length > maxCommandChars) refuse("exec.too-long", `it is longer than ${maxCommandChars} characters`);
  if (!command.isWellFormed()) refuse("exec.bad-text", "it contains a lone surrogate (half a character)");
  if (command.includes("\r")) refuse("exec.bad-text", "it contains a carriage return");
  if (/(?<!\\)(?:\\\\)*\\$/.test(command))
    refuse("exec.syntax", "it ends with a backslash, which shells interpret differently");
  const opened = command.match(/[$<>]\(|\$\{|`|\(\(/g)?.length ?? 0;
  if (opened > maxOpened || (command.match(/\{/g)?.length ?? 0) > maxBraces)
    refuse("exec.too-deep", "it contains too many expansions");
}

/** Parsing time grows with the square of these. */
const maxOpened = 60;
const maxBraces = 300;

const ownNames = /^(?:.*\/)?(?:openclaw|moltbot)$/;

/** A login needs a person at a terminal; run by an agent it would hang. */
export function refuseLogin(parsed: Parsed): void {
  const login = parsed.commands.some((node) => {
    const words = rawOf(node)?.words.map(textOf) ?? [];
    return words.some((word, at) => ownNames.test(word) && words.slice(at + 1).includes("login"));
  });
  if (!login) return;
  throw new OpenClawError("exec.interactive-login", "login needs a person at a terminal", {
    hint: "run the login command yourself in a terminal",
  });
}

const maxSegments = 64;

/** Every simple command of the tree that can be analyzed on its own, at any depth. */
export function collectSegments(
  parsed: Parsed,
  analyze: (raw: RawCommand) => AnalyzedSegment | undefined,
): readonly AnalyzedSegment[] {
  return parsed.commands.slice(0, maxSegments).flatMap((node) => {
    const raw = rawOf(node);
    const segment = raw === undefined ? undefined : analyze(raw);
    return segment === undefined ? [] : [segment];
  });
}

function rawOf(node: SyntaxNode): RawCommand | undefined {
  if (node.type !== "Command") return undefined;
  try {
    return readSimpleCommand(node);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const messagesOf = (script: ParsedScript): readonly string[] => (script.errors ?? []).map(({ message }) => message);

const badCommand = (why: string): OpenClawError => new OpenClawError("exec.bad-command", `not a command line: ${why}`);
