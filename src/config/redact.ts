// Redacts secrets of a config that is shown, and restores them when the config is saved.
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";

import JSON5 from "json5";

import type { Env } from "../base/paths.ts";
import { looksSecret } from "../base/secret-names.ts";
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { configVariables } from "./environment.ts";
import { commentsIn, nodeAt, parseText, splice, type Part, type TextNode } from "./json5-text.ts";
import { formatPath, getAt, setAt, type ConfigPath, type Segment } from "./path.ts";
import type { Config } from "./schema/index.ts";
import { findSecrets, isSecret, placeBelow, rootPlace, type SecretPlace, type SecretValue } from "./secrets.ts";
import { isReference, substitute } from "./substitute.ts";

/** Replaces a secret. Published clients send it back unchanged. */
export const redacted = "__OPENCLAW_REDACTED__";

/**
 * Also hides other texts that contain a secret, as when one variable is used twice; `known` are secrets from elsewhere.
 */
export function redactConfig(value: unknown, known: readonly string[] = []): unknown {
  const found = findSecrets(value);
  const hidden = found.reduce<unknown>((copy, { path }) => setAt(copy, path, redacted), value);
  const repeats = repeatsOf([...repeatable(found), ...known]);
  const walk = (part: unknown): unknown => {
    if (typeof part === "string") return part !== redacted && repeats(part) ? redacted : part;
    if (Array.isArray(part)) return part.map(walk);
    if (!isRecord(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, child]) => [key, walk(child)]));
  };
  return walk(hidden);
}

/** The same on the text itself; all other text is unchanged. References such as `${KEY}` are not secrets. */
export function redactRaw(text: string, known: readonly string[] = []): string {
  const tree = readTree(text);
  if (tree === undefined) return redactWords(text);
  const cuts = [...valueCuts(text, tree, known), ...commentCuts(text)];
  return splice(text, cuts);
}

/** All values that must never be printed: the config's secrets and the credentials of the environment. */
export function secretsIn(config: Config, env: Env): string[] {
  return [...secretsOf(config), ...secretsOfEnv(env)];
}

/** By the names of the variables. A path to a file with secrets is not a secret. */
export function secretsOfEnv(env: Env): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value !== "" && looksSecret(name) && !(isAbsolute(value) && existsSync(value))
      ? [value]
      : [],
  );
}

/** Every secret value, for redacting it anywhere. */
export function secretsOf(config: Config): string[] {
  const words = findSecrets(config).flatMap(({ value }) => textsIn(value));
  return [...new Set(words.flatMap((word) => [word, ...schemeless(word)]))];
}

const schemeless = (word: string): string[] => /^(?:Bearer|Basic|Bot)\s+(\S+)$/i.exec(word)?.slice(1) ?? [];

/**
 * Replaces unchanged markers by the stored values. Throws `config.redacted` for a marker without a stored value, so
 * that none is ever saved as a secret.
 */
export function restoreRedacted(next: unknown, current: unknown): unknown {
  return markersIn(next, []).reduce<unknown>((copy, path) => {
    return setAt(copy, path, getAt(current, storedPath(next, current, path)));
  }, next);
}

/** The same on texts: restores the value as it was written. */
export function restoreRedactedText(nextText: string, currentText: string): string {
  if (!nextText.includes(redacted)) return nextText;
  const [nextTree, currentTree] = [readTree(nextText), readTree(currentText)];
  // An unparsable text is rejected later, with the location of the error.
  if (nextTree === undefined) return nextText;
  const [next, current]: unknown[] = [
    JSON5.parse(nextText),
    currentTree === undefined ? undefined : JSON5.parse(currentText),
  ];
  const values = markersIn(next, []).map((path): Part => {
    const stored = nodeAt(currentTree, storedPath(next, current, path)) as TextNode;
    const { start, end } = nodeAt(nextTree, path) as TextNode;
    return { start, end, text: currentText.slice(stored.start, stored.end) };
  });
  return splice(nextText, [...values, ...commentRestores(nextText, currentText)]);
}

/** For a part that is redacted separately: the secrets of the whole config, which it may contain. */
export function secretsBeside(whole: unknown, env: Env): string[] {
  return [...repeatable(findSecrets(whole)), ...secretsOfEnv(env)];
}

/** Includes variables that the config sets itself: a secret may be written there and used elsewhere. */
function resolved(value: unknown): unknown {
  return isRecord(value) ? substitute(value, configVariables(value["env"]).values).value : value;
}

/** Secrets that could be part of other values. Of a whole record only values with secret names count. */
function repeatable(found: readonly SecretValue[]): string[] {
  return found.flatMap(({ value }) => {
    if (typeof value === "string") return isReference(value) ? [] : [value, ...schemeless(value)];
    if (!isRecord(value)) return [];
    return Object.entries(value).flatMap(([name, text]) =>
      typeof text === "string" && looksSecret(name) && !isReference(text) ? [text] : [],
    );
  });
}

/** Very short secrets are often ordinary words: they are matched as a whole value, or not at all. */
const MIN_INSIDE = 6;
const MIN_WHOLE = 4;

function repeatsOf(secrets: readonly string[]): (text: string) => boolean {
  const inside = secrets.filter(({ length }) => length >= MIN_INSIDE);
  const whole = new Set(secrets.filter(({ length }) => length >= MIN_WHOLE));
  return (text) => whole.has(text) || inside.some((secret) => text.includes(secret));
}

/** Walks the tree instead of the value, so that the first of two equal keys is redacted, too. */
function valueCuts(text: string, tree: TextNode, known: readonly string[]): Part[] {
  const cuts: Part[] = [];
  const repeats = repeatsOf([...repeatable(findSecrets(resolved(JSON5.parse(text)))), ...known]);
  const walk = (node: TextNode, place: SecretPlace): void => {
    const value: unknown = JSON5.parse(text.slice(node.start, node.end));
    const repeated = typeof value === "string" && value !== redacted && repeats(value);
    if (repeated || isSecret(value, place)) {
      const quote = text[node.start] === "'" ? "'" : '"';
      const open = typeof value === "string" && isReference(value);
      if (!open) cuts.push({ start: node.start, end: node.end, text: quote + redacted + quote });
      return;
    }
    if (node.kind === "scalar") return;
    for (const entry of node.entries) walk(entry.value, placeBelow(place, value, entry.key));
  };
  walk(tree, rootPlace);
  return cuts;
}

/** Commented-out text can contain secrets. */
function commentCuts(text: string): Part[] {
  return commentsIn(text).flatMap((comment) => {
    const hidden = redactWords(comment.text);
    return hidden === comment.text ? [] : [{ start: comment.start, end: comment.end, text: hidden }];
  });
}

function commentRestores(nextText: string, currentText: string): Part[] {
  const stored = Map.groupBy(commentsIn(currentText), ({ text }) => redactWords(text));
  const marked = commentsIn(nextText).filter(({ text }) => text.includes(redacted));
  return marked.map(({ start, end, text }: Part): Part => {
    const original = stored.get(text)?.shift();
    if (original === undefined) throw nothingStored("a comment");
    return { start, end, text: original.text };
  });
}

/** Values after a secret-like name, in text that is not valid JSON5. */
function redactWords(text: string): string {
  return text.replaceAll(named, (written, quote: string, name: string, gap: string, value: string) => {
    const bare = value.replace(/^["']|["']$/g, "");
    if (!looksSecret(name) || bare === "" || bare === redacted || isReference(bare)) return written;
    return `${quote}${name}${quote}${gap}"${redacted}"`;
  });
}

const named = /(["']?)\b([A-Za-z_][\w-]{0,80})\1(\s*[:=]\s*)("[^"\n\r]*"|'[^'\n\r]*'|[^\s"'{[,}\]][^\s,}\]]*)/g;

/** Paths of markers; a marker inside a longer text is a mistake. */
function markersIn(value: unknown, path: Segment[]): ConfigPath[] {
  if (value === redacted) return [path];
  if (typeof value === "string" && value.includes(redacted)) throw nothingStored(formatPath(path));
  if (Array.isArray(value)) return value.flatMap((item, index) => markersIn(item, [...path, index]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => markersIn(child, [...path, key]));
}

/** The value itself when it contains no marker; for paths without a stored value. */
export function requireNoMarkers<T>(value: T, path: ConfigPath): T {
  const [marker] = markersIn(value, [...path]);
  if (marker !== undefined) throw nothingStored(formatPath(marker));
  return value;
}

/** Where the value of a marker is stored. List entries are identified by their id, otherwise by their unchanged index. */
function storedPath(next: unknown, current: unknown, path: ConfigPath): ConfigPath {
  const stored: Segment[] = [];
  let [from, to] = [next, current];
  for (const segment of path) {
    const step = typeof segment === "number" ? matchingIndex(from, to, segment) : segment;
    if (step === undefined) throw nothingStored(formatPath(path));
    stored.push(step);
    from = getAt(from, [segment]);
    to = getAt(to, [step]);
  }
  if (to === undefined || to === redacted) throw nothingStored(formatPath(path));
  return stored;
}

/** The former index of an item of a changed list. */
export function matchingIndex(from: unknown, to: unknown, index: number): number | undefined {
  if (!Array.isArray(from) || !Array.isArray(to)) return undefined;
  const item: unknown = from[index];
  const id = isRecord(item) ? item["id"] : undefined;
  if (typeof id !== "string") return from.length === to.length ? index : undefined;
  const found = to.findIndex((other) => isRecord(other) && other["id"] === id);
  return found < 0 ? undefined : found;
}

function nothingStored(path: string): OpenClawError {
  return new OpenClawError("config.redacted", `${path} contains the marker ${redacted}, but no value is stored there`, {
    hint: "write the secret itself, or leave the key out",
    details: { path },
  });
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function readTree(text: string): TextNode | undefined {
  try {
    const tree = parseText(text);
    JSON5.parse(text);
    return tree;
  } catch (error) {
    if (error instanceof OpenClawError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
