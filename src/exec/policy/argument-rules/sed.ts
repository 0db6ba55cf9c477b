// sed: accepts scripts of addresses and commands that only print; rejects files, e, w and -i.
import { readOptions } from "./options.ts";
import { concern, fine, type Rule } from "./rule.ts";

export const sedRule: Rule = (args) => {
  const read = readOptions(args, {
    entries: "nErsuz",
    valued: "el",
    long: "--quiet --silent --regexp-extended --posix --separate --unbuffered --null-data --zero-terminated --sandbox --version --help",
    longValued: "--expression --line-length",
  });
  if (read === undefined) return concern("sed is given an option that writes or reads files, or that is not known");
  // Other versions of sed have -l without a value, and then the next word would be a script.
  if (read.options.some(({ name, value }) => name === "-l" && !/^\d{1,6}$/.test(value ?? "")))
    return concern("sed is given a line length that is not a number");
  const given = read.options.flatMap(({ name, value }) =>
    name === "-e" || name === "--expression" ? [value ?? ""] : [],
  );
  const scripts = given.length > 0 ? given : read.operands.slice(0, 1);
  const bad = scripts.find((script) => !onlyPrints(script));
  return bad === undefined ? fine : concern("its sed script does more than edit the stream");
};

/** Reads the script once from left to right and stops at the first unknown part. */
function onlyPrints(script: string): boolean {
  let rest = script;
  while (rest !== "") {
    const before = rest;
    rest = rest.replace(/^[\s;{}]+/, "");
    if (rest === "") return true;
    const behind = afterCommand(afterAddress(rest));
    if (behind === undefined || behind === before) return false;
    rest = behind;
  }
  return true;
}

const address = /^(?:\d+(?:~\d+)?|\$|\/(?:[^/\\\n]|\\[^\n])*\/[IM]*)/;

function afterAddress(text: string): string {
  const first = address.exec(text);
  const one = first === null ? text : text.slice(first[0].length).replace(/^\s+/, "");
  if (first === null || !one.startsWith(",")) return one.replace(/^(?:\s*!)*\s*/, "");
  const rest = one.slice(1).replace(/^\s+/, "");
  const second = /^[+~]\d+/.exec(rest) ?? address.exec(rest);
  if (second === null) return "?";
  return rest.slice(second[0].length).replace(/^(?:\s*!)*\s*/, "");
}

/** `:a`, `b a`, `t`: versions of sed that read to the end of the line run less of it, never more. */
const jump = /^(?::\s*\w+|[bt](?:\s*\w+)?)\s*(?=[;}\n]|$)/;

/** Text to print after its letter. A backslash is rejected, because versions differ in whether the next line belongs to it. */
const line = /^[aic][ \t]+[^\s\\][^\\\n]*(?=\n|$)/;

/** The text after one command; undefined when the command is not a plain one. */
function afterCommand(text: string): string | undefined {
  if (text.startsWith("{")) return text.slice(1);
  const simple = /^(?:[pPdDgGhHxnNz=]|[lqQ]\s*\d*)\s*(?=[;}\n]|$)/.exec(text);
  if (simple !== null) return text.slice(simple[0].length);
  const other = jump.exec(text) ?? line.exec(text);
  if (other !== null) return text.slice(other[0].length);
  const entry = text[0];
  const mark = text[1];
  if ((entry !== "s" && entry !== "y") || mark === undefined || /[\\\nA-Za-z0-9\s]/.test(mark)) return undefined;
  const body = afterParts(text.slice(2), mark);
  if (body === undefined) return undefined;
  const flags = entry === "s" ? /^[gpiI0-9]*\s*(?=[;}\n]|$)/.exec(body) : /^\s*(?=[;}\n]|$)/.exec(body);
  return flags === null ? undefined : body.slice(flags[0].length);
}

/** The text after the second delimiter. A delimiter inside a character set leaves invalid flags, which are rejected. */
function afterParts(text: string, mark: string): string | undefined {
  let seen = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    if (char === mark && ++seen === 2) return text.slice(at + 1);
    if (char === "\n" || char === "[") {
      if (char === "\n" || text.slice(at).split("]")[0]?.includes(mark) === true) return undefined;
    }
  }
  return undefined;
}
