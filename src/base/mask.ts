// Redacts secrets in text: known values in every common encoding, and text that looks like a credential.
import { redactCommand } from "./command-secrets.ts";

export interface Mask {
  (text: string): string;
  /** The same for a command line, including the value after `--password` and similar options. */
  readonly command: (text: string) => string;
  /** Replaces the known values; short ones (under 6 characters) would match ordinary words and are skipped. */
  readonly know: (secrets: readonly string[]) => void;
  /** Adds values that stay known until the process ends, such as tokens of a login. */
  readonly learn: (secrets: readonly string[]) => void;
  /** How many characters at the end could be the start of a known value: hold them until more text arrives. */
  readonly unfinished: (text: string) => number;
}

const shapes: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-(?:[a-z]+-)*[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bxapp-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bya29\.[A-Za-z0-9_-]{20,}/g,
  /\b\d{8,10}:AA[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(?<=\bbearer\s)[A-Za-z0-9._~+/-]{12,}=*/gi,
];

const hint = /sk-|pk-|rk-|gh[pousr]_|github_pat_|xox|xapp-|AKIA|AIza|ya29\.|:AA|eyJ|PRIVATE KEY|bearer\s/i;

/** `patterns` replace the built-in patterns (`logging.redactPatterns`). */
export function createMask(secrets: readonly string[] = [], patterns?: readonly RegExp[]): Mask {
  const learned = new Set<string>();
  let given = secrets;
  let known = encodings(secrets);
  const mask = (text: string): string => {
    let out = text;
    for (const value of known) if (out.includes(value)) out = out.replaceAll(value, shorten(value));
    if (out.includes("\n")) out = redactBroken(out, known);
    if (patterns === undefined && !hint.test(out)) return out;
    for (const shape of patterns ?? shapes) out = out.replace(shape, shorten);
    return out;
  };
  return Object.assign(mask, {
    command: (text: string) => mask(redactCommand(text)),
    know(next: readonly string[]) {
      given = next;
      known = encodings([...next, ...learned]);
    },
    learn(more: readonly string[]) {
      for (const secret of more) learned.add(secret);
      known = encodings([...given, ...learned]);
    },
    unfinished: (text: string) => Math.max(0, ...known.map((value) => begunAtEnd(text, value))),
  });
}

/** `base64`, `xxd -p` and `fold` wrap lines at a fixed width, also inside a value. */
function redactBroken(text: string, known: readonly string[]): string {
  const joined = text.replaceAll(/\r?\n/g, "");
  const broken = known.filter((value) => value.length >= MIN_BROKEN && joined.includes(value));
  return broken.reduce((out, value) => out.replace(brokenPattern(value), shorten(value)), text);
}

/** Two short lines that together form a short value are usually a coincidence. */
const MIN_BROKEN = 16;

const brokenPattern = (value: string): RegExp =>
  new RegExp(Array.from(value, (char) => char.replace(/[^\w]/, "\\$&")).join("(?:\\r?\\n)?"), "g");

/** Shorter prefixes are too often ordinary words. */
const MIN_BEGUN = 3;

function begunAtEnd(text: string, value: string): number {
  const end = text.slice(-(value.length - 1));
  for (let length = end.length; length >= MIN_BEGUN; length -= 1)
    if (value.startsWith(end.slice(end.length - length))) return length;
  return 0;
}

/** Long values keep their first and last characters so that people can recognize the key; short ones are replaced. */
function shorten(value: string): string {
  return value.length >= 18 && !value.includes("\n") ? `${value.slice(0, 4)}…${value.slice(-2)}` : "***";
}

function encodings(secrets: readonly string[]): string[] {
  const forms = secrets
    .filter((secret) => secret.length >= 6)
    .flatMap((secret) => {
      const bytes = Buffer.from(secret, "utf8");
      const hex = bytes.toString("hex");
      const inUrl = encodeURIComponent(secret);
      const inJson = JSON.stringify(secret).slice(1, -1);
      const percent = hex.replaceAll(/../g, "%$&");
      return [
        secret,
        inUrl,
        inUrl.replaceAll(/%../g, (code) => code.toLowerCase()),
        inJson,
        JSON.stringify(inJson).slice(1, -1),
        secret.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char),
        bytes.toString("base64"),
        bytes.toString("base64url"),
        ...[hex, percent, hex.replaceAll(/../g, "\\x$&")].flatMap((form) => [form, upperDigits(form)]),
        ...shiftedBase64(bytes),
      ];
    });
  // Longest first, so that a value inside another does not leave the rest of the longer one visible.
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const upperDigits = (form: string): string => form.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase());

/** Base64 of the secret inside a longer text: the middle is the same for each of the three alignments. */
function shiftedBase64(bytes: Buffer): string[] {
  if (bytes.length < 12) return [];
  return [1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    return encoded.slice(shift + 1, -2);
  });
}
