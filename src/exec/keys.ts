// Turns tmux key names into the bytes a terminal sends, or into steps for a command that reads from a pipe.
import { ToolError } from "../core/error.ts";
import { visible } from "../core/visible.ts";

const ESC = "\u001b";

/** The most warnings in one answer. */
const MAX_WARNINGS = 10;

export interface KeyInput {
  readonly keys?: readonly string[];
  /** One byte per item: `1b`, `0x03`. */
  readonly hex?: readonly string[];
  /** Sent unchanged before hex and keys, so that text comes before Enter. */
  readonly literal?: string;
}

export interface EncodedKeys {
  readonly bytes: Buffer;
  /** Tokens that are not key names and were sent as text. */
  readonly warnings: readonly string[];
}

export function encodeKeys({ keys = [], hex = [], literal = "" }: KeyInput): EncodedKeys {
  const encoded = keys.map((token) => ({ token, text: encodeKey(token) }));
  const unknown = encoded.filter(({ text }) => text === undefined);
  const warnings = [
    ...unknown
      .slice(0, MAX_WARNINGS)
      .map(({ token }) => `${JSON.stringify(visible(token, 60))} is not a key name and was sent as text`),
    ...(unknown.length > MAX_WARNINGS ? [`and ${unknown.length - MAX_WARNINGS} more`] : []),
  ];
  const parts = [
    Buffer.from(literal),
    Buffer.from(hex.map(hexByte)),
    ...encoded.map(({ token, text }) => Buffer.from(text ?? token)),
  ];
  return { bytes: Buffer.concat(parts), warnings };
}

/** Steps for a command on a pipe, where no terminal turns control characters into signals. */
export type PipeStep =
  | { readonly does: "write"; readonly bytes: Buffer }
  | { readonly does: "signal"; readonly signal: "SIGINT" | "SIGQUIT" }
  | { readonly does: "close" };

const pipeKeys: ReadonlyMap<string, PipeStep> = new Map<string, PipeStep>([
  ["\r", { does: "write", bytes: Buffer.from("\n") }],
  ["\u0003", { does: "signal", signal: "SIGINT" }],
  ["\u001c", { does: "signal", signal: "SIGQUIT" }],
  ["\u0004", { does: "close" }],
]);

/** Undefined for keys that only a terminal understands: arrows, Escape, Ctrl-Z. */
export function stepsForPipe({ keys = [], hex = [], literal = "" }: KeyInput): readonly PipeStep[] | undefined {
  const text = Buffer.concat([Buffer.from(literal), Buffer.from(hex.map(hexByte))]);
  const steps = keys.map((token): PipeStep | undefined => {
    const sent = encodeKey(token) ?? token;
    // oxlint-disable-next-line no-control-regex
    return pipeKeys.get(sent) ?? (/^[^\u0000-\u0008\u000b-\u001f\u007f]*$/.test(sent) ? writeStep(sent) : undefined);
  });
  return steps.every((step) => step !== undefined) ? joinWrites([writeStep(text), ...steps]) : undefined;
}

function joinWrites(steps: readonly PipeStep[]): readonly PipeStep[] {
  const joined: PipeStep[] = [];
  let waiting: Buffer[] = [];
  const flush = (): void => {
    const bytes = Buffer.concat(waiting);
    if (bytes.length > 0) joined.push(writeStep(bytes));
    waiting = [];
  };
  for (const step of steps) {
    if (step.does === "write") waiting.push(step.bytes);
    else {
      flush();
      joined.push(step);
    }
  }
  flush();
  return joined;
}

const writeStep = (text: string | Buffer): PipeStep => ({ does: "write", bytes: Buffer.from(text) });

/**
 * Wraps pasted text in the markers that tell a program it was not typed. An end marker inside the text loses its
 * escape character; removing it completely could form a new marker from its neighbors.
 */
export function encodePaste(text: string, bracketed = true): Buffer {
  if (!bracketed) return Buffer.from(text);
  return Buffer.from(`${ESC}[200~${text.replaceAll(endOfPaste, "")}${ESC}[201~`);
}

const endOfPaste = new RegExp(`${ESC}+(?=\\[201~)`, "g");

const named: Readonly<Record<string, string>> = {
  enter: "\r",
  return: "\r",
  cr: "\r",
  tab: "\t",
  btab: `${ESC}[Z`,
  "s-tab": `${ESC}[Z`,
  escape: ESC,
  esc: ESC,
  space: " ",
  bspace: "\u007f",
  backspace: "\u007f",
  ppage: `${ESC}[5~`,
  pageup: `${ESC}[5~`,
  pgup: `${ESC}[5~`,
  npage: `${ESC}[6~`,
  pagedown: `${ESC}[6~`,
  pgdn: `${ESC}[6~`,
  ic: `${ESC}[2~`,
  insert: `${ESC}[2~`,
  dc: `${ESC}[3~`,
  delete: `${ESC}[3~`,
  del: `${ESC}[3~`,
  f1: `${ESC}OP`,
  f2: `${ESC}OQ`,
  f3: `${ESC}OR`,
  f4: `${ESC}OS`,
  f5: `${ESC}[15~`,
  f6: `${ESC}[17~`,
  f7: `${ESC}[18~`,
  f8: `${ESC}[19~`,
  f9: `${ESC}[20~`,
  f10: `${ESC}[21~`,
  f11: `${ESC}[23~`,
  f12: `${ESC}[24~`,
};

/** Final letters of the keys that take modifiers. */
const cursor: Readonly<Record<string, string>> = { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F" };

/** Common spellings such as `Ctrl+C`, `alt-x` and `Shift-Up`, mapped to those of tmux. */
const spelledOut: Readonly<Record<string, string>> = {
  ctrl: "C",
  control: "C",
  alt: "M",
  meta: "M",
  option: "M",
  shift: "S",
};

function encodeKey(written: string): string | undefined {
  if (/^.$/su.test(written)) return written;
  const token = written.replaceAll(
    /(?<=^|[-+])(ctrl|control|alt|meta|option|shift)[-+](?=.)/gis,
    (_, name: string) => `${spelledOut[name.toLowerCase()] ?? name}-`,
  );
  const name = token.toLowerCase();
  const known = (Object.hasOwn(named, name) ? named[name] : undefined) ?? plainCursor(name) ?? modifiedCursor(name);
  if (known !== undefined) return known;
  const caret = /^\^(.)$/s.exec(token)?.[1];
  if (caret !== undefined) return control(caret);
  const [, modifier, rest] = /^([cm])-(.+)$/is.exec(token) ?? [];
  if (modifier === undefined || rest === undefined) return undefined;
  if (modifier.toLowerCase() === "c") return control(rest);
  const inner = encodeKey(rest);
  return inner === undefined ? undefined : `${ESC}${inner}`;
}

function plainCursor(name: string): string | undefined {
  const entry = Object.hasOwn(cursor, name) ? cursor[name] : undefined;
  return entry === undefined ? undefined : `${ESC}[${entry}`;
}

function modifiedCursor(name: string): string | undefined {
  const [, modifiers, key] = /^((?:[scm]-)+)(\w+)$/.exec(name) ?? [];
  const entry = key !== undefined && Object.hasOwn(cursor, key) ? cursor[key] : undefined;
  if (entry === undefined || modifiers === undefined) return undefined;
  const weight =
    (modifiers.includes("s") ? 1 : 0) + (modifiers.includes("m") ? 2 : 0) + (modifiers.includes("c") ? 4 : 0);
  return `${ESC}[1;${1 + weight}${entry}`;
}

function control(key: string): string | undefined {
  if (key.toLowerCase() === "space") return "\u0000";
  if (key === "?") return "\u007f";
  return /^[A-Za-z@[\\\]^_]$/.test(key) ? String.fromCharCode(key.toUpperCase().charCodeAt(0) & 0x1f) : undefined;
}

function hexByte(item: string): number {
  const digits = /^(?:0x)?([0-9a-f]{1,2})$/i.exec(item.trim())?.[1];
  if (digits !== undefined) return Number.parseInt(digits, 16);
  throw new ToolError("process.bad-keys", `hex: ${JSON.stringify(visible(item, 40))} is not a byte`, {
    hint: "pass one byte per item, such as 1b or 0x03",
  });
}
