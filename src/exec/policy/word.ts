// Splits a shell word into literal text and wildcards; refuses everything that a shell would compute.
import type { DoubleQuotedChild, Word, WordPart } from "unbash";

import { refuse } from "./refusal.ts";

export interface Piece {
  readonly text: string;
  /** True for a wildcard as written (`*`, `?`, `[a-z]`), false for literal text. */
  readonly wild: boolean;
}

export interface ShellWord {
  readonly pieces: readonly Piece[];
  /** True for an unquoted `~` or `~/…`. */
  readonly tilde: boolean;
}

const expansions: Readonly<Record<string, string>> = {
  LocaleString: 'a translated string $"…"',
  SimpleExpansion: "a variable",
  ParameterExpansion: "a parameter expansion",
  CommandExpansion: "a command substitution",
  ArithmeticExpansion: "an arithmetic expansion",
  ProcessSubstitution: "a process substitution",
  ExtendedGlob: "an extended pattern",
  BraceExpansion: "a brace expansion",
};

export function readWord(word: Word): ShellWord {
  const parts = word.parts;
  const pieces = parts === undefined ? [literal(word.value)] : parts.flatMap(pieceOf);
  return { pieces, tilde: tildeOf(word) };
}

/** The word as text, when it does not depend on the disk. */
export function plainText(word: ShellWord): string | undefined {
  if (word.tilde || word.pieces.some((piece) => piece.wild)) return undefined;
  return textOf(word);
}

export const textOf = (word: ShellWord): string => word.pieces.map((piece) => piece.text).join("");

function pieceOf(part: WordPart): Piece[] {
  if (part.type === "Literal" || part.type === "SingleQuoted") return [literal(part.value)];
  if (part.type === "AnsiCQuoted") return [ansiText(part)];
  if (part.type === "DoubleQuoted") return [literal(part.parts.map(quotedText).join(""))];
  if (part.type === "Glob") return [wildcard(part.kind, part.text)];
  return refuse("exec.expansion", `it contains ${expansions[part.type] ?? part.type}: ${part.text.slice(0, 60)}`);
}

function quotedText(part: DoubleQuotedChild): string {
  if (part.type === "Literal") return part.value;
  return refuse("exec.expansion", `it contains ${expansions[part.type] ?? part.type}: ${part.text.slice(0, 60)}`);
}

/** Bytes above 127 that are escaped one by one are not valid text and could not be passed on unchanged. */
function ansiText(part: { readonly text: string; readonly value: string }): Piece {
  const spelled = part.text.replaceAll("\\\\", "");
  if (/\\x[89a-f][0-9a-f]|\\[23][0-7]{2}|\\c|\\0|\\x0?(?![0-9a-f])|\\[uU]0+(?![0-9a-f])/i.test(spelled))
    refuse("exec.byte-escape", `it contains byte escapes: ${part.text.slice(0, 60)}`);
  return literal(part.value);
}

function wildcard(kind: "star" | "question" | "bracket", text: string): Piece {
  if (kind === "bracket" && !/^\[[!^]?[A-Za-z0-9_.,:+@%=-]+\]$/.test(text))
    refuse("exec.pattern", `its character set ${text.slice(0, 60)} contains more than letters, digits and ranges`);
  return { text, wild: true };
}

function tildeOf(word: Word): boolean {
  const first = word.parts?.[0];
  const unquoted = first === undefined ? word.text : first.type === "Literal" ? first.text : "";
  if (!unquoted.startsWith("~")) return false;
  if (unquoted.startsWith("~/") || word.text === "~") return true;
  return refuse(
    "exec.expansion",
    `${word.text.slice(0, 60)} uses ~user expansion, which the allowlist does not follow`,
  );
}

const literal = (text: string): Piece => ({ text, wild: false });
