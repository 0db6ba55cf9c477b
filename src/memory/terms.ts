// Words as the index keeps and finds them: scripts without spaces get some, and a question becomes plain bound words.
import { OpenClawError } from "../core/error.ts";

const MAX_QUERY_CHARS = 8_000;
const MAX_TERMS = 32;

// One character of these is a word or a good part of one; full-text tables would take a whole sentence for one word.
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const unspacedAll = new RegExp(unspaced.source, "gu");

/** The text as it goes into the index. */
export function spaced(text: string): string {
  return unspaced.test(text) ? text.replaceAll(unspacedAll, " $& ") : text;
}

/** One thing to look for: a word, or neighbouring characters. */
export interface Term {
  /** As the full-text table takes it: quoted, so that nothing in it is an operator. */
  readonly match: string;
  /** As it stands in the text, folded, for finding the place to show. */
  readonly text: string;
}

/** Every operator, quote and bracket is just a mark between words. Throws `memory.query-too-long`. */
export function termsOf(query: string): Term[] {
  if (query.length > MAX_QUERY_CHARS)
    throw new OpenClawError(
      "memory.query-too-long",
      `the query has ${query.length} characters; ${MAX_QUERY_CHARS} at most`,
      {
        hint: "ask with the few words that matter",
      },
    );
  const words =
    query
      .toWellFormed()
      .normalize("NFKC")
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const terms = new Map<string, Term>();
  for (const term of words.flatMap(termsOfWord)) {
    terms.set(term.text, term);
    if (terms.size >= MAX_TERMS * 4) break;
  }
  const all = [...terms.values()];
  const telling = all.filter(({ text }) => !everyday.has(text));
  return (telling.length === 0 ? all : telling).slice(0, MAX_TERMS);
}

function termsOfWord(word: string): Term[] {
  const runs = word.match(runsOf) ?? [];
  return runs.flatMap((run) => (unspaced.test(run) ? neighbours(run) : [plain(run)]));
}

const runsOf = new RegExp(`(?:${unspaced.source})+|(?:(?!${unspaced.source})[\\p{L}\\p{M}\\p{N}])+`, "gu");

/** Two characters at a time: long enough to mean something, short enough to be found in other sentences. */
function neighbours(run: string): Term[] {
  const characters = Array.from(run).filter((character) => !/\p{M}/u.test(character) || unspaced.test(character));
  if (characters.length < 2) return [plain(run)];
  return characters.slice(1).map((character, at) => {
    const before = characters[at] ?? "";
    return { match: `"${before} ${character}"`, text: fold(before + character) };
  });
}

function plain(word: string): Term {
  return { match: `"${word}"`, text: fold(word) };
}

/** Letters without case and marks, as the index compares them. */
export function fold(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

// Words that stand in nearly every sentence tell nothing about which one is meant; alone they still count.
const everyday: ReadonlySet<string> = new Set(
  (
    "a about after all also am an and any are as at be been before but by can could did do does for from get had has have he her " +
    "him his how i if in into is it its just let like made make may me more most my no not now of on one only or our out " +
    "over please say said she should so some such tell than that the their them then there these they this those through " +
    "to too up us use very want was we were what when where which while who whose why will with would you your " +
    "aber als am an auch auf aus bei bin bis da das dass dem den der des die du durch ein eine einem einen einer er es fur " +
    "hat habe hatte ich ihr im in ist ja kann man mein mit nach nicht noch nur ob oder sich sie sind so und uns unser vom " +
    "von vor wann war warum was wer wie wir wo zu zum zur"
  ).split(" "),
);
