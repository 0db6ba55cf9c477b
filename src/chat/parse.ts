// Parses a message: one command, or text with directives and shortcuts extracted. Pure, never throws, linear in its length.

/** The known commands. Spellings are lower case and without the slash. */
export interface Grammar {
  /** Spelling to name, for commands that must be the whole message. */
  readonly commands: ReadonlyMap<string, string>;
  /** Spelling to name, for commands that are answered anywhere in a message. */
  readonly shortcuts: ReadonlyMap<string, string>;
  readonly directives: ReadonlyMap<string, DirectiveRule>;
  /** Short names of models: `/<alias>` is `/model <alias>`. */
  readonly modelAliases: ReadonlySet<string>;
  /** Further texts that reset a session. */
  readonly resetTriggers: readonly string[];
}

export interface DirectiveRule {
  readonly name: string;
  /** How many of the given words belong to the directive. */
  claims(words: readonly string[], aliases: ReadonlySet<string>): number;
}

export interface Found {
  readonly name: string;
  readonly args: string;
}

export type Parsed =
  | { readonly kind: "command"; readonly name: string; readonly args: string }
  /** Without directives and shortcuts `text` is the message, byte for byte. */
  | {
      readonly kind: "text";
      readonly text: string;
      readonly directives: readonly Found[];
      readonly shortcuts: readonly string[];
    };

export function parseMessage(text: string, grammar: Grammar): Parsed {
  const whole = text.trim();
  if (isStopText(whole)) return { kind: "command", name: "stop", args: "" };
  return readBang(whole) ?? readTrigger(whole, grammar) ?? readCommand(whole, grammar) ?? readText(text, grammar);
}

const stopWords: ReadonlySet<string> = new Set(["stop", "esc", "abort", "wait", "exit", "interrupt", "/stop"]);

/** True for a message that is exactly a stop word. Clients use it to bypass the queue. */
export function isStopText(text: string): boolean {
  if (text.length > 64) return false;
  return stopWords.has(
    text
      .trim()
      .toLowerCase()
      .replace(/[.!:]{1,3}$/, ""),
  );
}

/** `! command` or `!command`, but neither a Markdown image nor several exclamation marks. */
function readBang(whole: string): Parsed | undefined {
  if (!/^![ \t]*[^\s![]/.test(whole)) return undefined;
  return { kind: "command", name: "bash", args: whole.slice(1).trim() };
}

function readTrigger(whole: string, { resetTriggers }: Grammar): Parsed | undefined {
  const lower = whole.slice(0, 200).toLowerCase();
  for (const trigger of resetTriggers) {
    const word = trigger.trim().toLowerCase();
    if (word === "" || !lower.startsWith(word) || !/^(?:\s|$)/.test(whole.slice(word.length, word.length + 1)))
      continue;
    return { kind: "command", name: "new", args: whole.slice(word.length).trim() };
  }
  return undefined;
}

function readCommand(whole: string, { commands }: Grammar): Parsed | undefined {
  const word = slashWord(/^\S{1,80}(?=\s|$)/.exec(whole)?.[0] ?? "");
  const name = word === undefined ? undefined : commands.get(word.spelling);
  if (word === undefined || name === undefined) return undefined;
  const rest = whole.slice(word.length).trim();
  return { kind: "command", name, args: word.attached === "" ? rest : `${word.attached} ${rest}`.trim() };
}

interface SlashWord {
  readonly spelling: string;
  /** The text after a colon in the same word. */
  readonly attached: string;
  readonly length: number;
}

/** `/name`, `/name:` or `/name:value`, but not paths and URLs, where other characters follow the name. */
function slashWord(word: string): SlashWord | undefined {
  const match = /^\/([a-z][a-z0-9_-]{0,40})(?::(.*))?$/is.exec(word);
  if (match === null) return undefined;
  return { spelling: (match[1] ?? "").toLowerCase(), attached: match[2] ?? "", length: word.length };
}

interface Word {
  readonly start: number;
  readonly text: string;
  readonly quoted: boolean;
  /** The first of its line. */
  readonly leads: boolean;
}

/** More than any directive can claim. */
const LOOK_AHEAD = 10;

function readText(text: string, grammar: Grammar): Parsed {
  const directives: Found[] = [];
  const shortcuts: string[] = [];
  if (!text.includes("/")) return { kind: "text", text, directives, shortcuts };
  const words = wordsOf(text);
  const kept: string[] = [];
  let end = 0; // of the last word
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    const found = word.quoted ? undefined : findAt(words, at, grammar);
    if (found === undefined) {
      kept.push(text.slice(end, word.start + word.text.length));
    } else {
      if (found.shortcut) shortcuts.push(found.name);
      else directives.push({ name: found.name, args: found.args });
      at += found.claimed;
    }
    const last = words[at] ?? word;
    end = last.start + last.text.length;
  }
  if (directives.length === 0 && shortcuts.length === 0) return { kind: "text", text, directives, shortcuts };
  return withOddWord({ kind: "text", text: kept.join("").trim(), directives, shortcuts }, words[0]);
}

/** `/think maybe`: passes the only remaining word to the directive, which rejects it with its choices. */
function withOddWord(parsed: Extract<Parsed, { kind: "text" }>, first: Word | undefined): Parsed {
  const [only, ...more] = parsed.directives;
  if (only === undefined || more.length > 0 || parsed.shortcuts.length > 0 || only.args !== "") return parsed;
  if (!/^\S+$/.test(parsed.text) || first === undefined || first.text === parsed.text) return parsed;
  return { ...parsed, text: "", directives: [{ name: only.name, args: parsed.text }] };
}

interface Match extends Found {
  readonly shortcut: boolean;
  /** Words after the first one that belong to it. */
  readonly claimed: number;
}

function findAt(words: readonly Word[], at: number, grammar: Grammar): Match | undefined {
  const word = slashWord(words[at]?.text ?? "");
  if (word === undefined) return undefined;
  const { spelling, attached } = word;
  const shortcut = grammar.shortcuts.get(spelling);
  if (shortcut !== undefined) {
    return attached === "" ? { name: shortcut, args: "", shortcut: true, claimed: 0 } : undefined;
  }
  const rule = grammar.directives.get(spelling);
  if (rule !== undefined) return claim(rule, attached, words, at, grammar);
  if (attached !== "" || !grammar.modelAliases.has(spelling)) return undefined;
  return { name: "model", args: spelling, shortcut: false, claimed: 0 };
}

function claim(
  rule: DirectiveRule,
  attached: string,
  words: readonly Word[],
  at: number,
  { modelAliases }: Grammar,
): Match | undefined {
  const near = words.slice(at + 1, at + LOOK_AHEAD);
  const stop = near.findIndex(({ leads, quoted }) => leads || quoted);
  const behind = (stop === -1 ? near : near.slice(0, stop)).map(({ text }) => text);
  const next = attached === "" ? behind : [attached, ...behind];
  const taken = Math.min(rule.claims(next, modelAliases), next.length);
  const alone = words.length === 1;
  if (attached !== "" && taken === 0 && !alone) return undefined;
  const args = taken === 0 && attached !== "" ? attached : next.slice(0, taken).join(" ");
  return { name: rule.name, args, shortcut: false, claimed: attached === "" ? taken : Math.max(taken - 1, 0) };
}

/** The words with their positions, each marked when it is inside code or a quotation. */
function wordsOf(text: string): Word[] {
  const spans = quotedSpans(text);
  let span = 0;
  let before = 0; // end of the word before
  const words: Word[] = [];
  for (const match of text.matchAll(/\S+/g)) {
    while ((spans[span]?.end ?? Number.POSITIVE_INFINITY) <= match.index) span += 1;
    const quoted = (spans[span]?.start ?? Number.POSITIVE_INFINITY) < match.index + match[0].length;
    const leads = words.length === 0 || text.slice(before, match.index).includes("\n");
    words.push({ start: match.index, text: match[0], quoted, leads });
    before = match.index + match[0].length;
  }
  return words;
}

/** Fenced blocks (open ones reach to the end), code in backticks within a line, and lines that quote. */
function quotedSpans(text: string): { readonly start: number; readonly end: number }[] {
  const spans: { start: number; end: number }[] = [];
  let fence: { mark: string; start: number } | undefined;
  let offset = 0;
  for (const line of text.split("\n")) {
    const mark = /^[ \t]*(```|~~~)/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark === fence.mark) {
        spans.push({ start: fence.start, end: offset + line.length });
        fence = undefined;
      }
    } else if (mark !== undefined) {
      fence = { mark, start: offset };
    } else if (/^[ \t]*>/.test(line)) {
      spans.push({ start: offset, end: offset + line.length });
    } else {
      for (const code of line.matchAll(/`[^`]+`/g)) {
        spans.push({ start: offset + code.index, end: offset + code.index + code[0].length });
      }
    }
    offset += line.length + 1;
  }
  if (fence !== undefined) spans.push({ start: fence.start, end: text.length });
  return spans;
}
