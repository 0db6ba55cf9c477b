// Splits texts and queries into search terms, also for scripts without spaces.
import { OpenClawError } from "../core/error.ts";

const MAX_QUERY_CHARS = 8_000;
const MAX_TERMS = 32;

// Scripts without spaces: the full-text table would take a whole sentence for one word.
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const unspacedAll = new RegExp(unspaced.source, "gu");

/** The text as it goes into the index. */
export function spaced(text: string): string {
  return unspaced.test(text) ? text.replaceAll(unspacedAll, " $& ") : text;
}

/** One search term: a word, or adjacent characters. */
export interface Term {
  /** Quoted for the full-text table, so that no part of it is an operator. */
  readonly match: string;
  /** Case-folded, for finding the place in the text. */
  readonly text: string;
}

/** Operators, quotes and brackets only separate words. Throws `memory.query-too-long`. */
export function termsOf(query: string): Term[] {
  if (query.length > MAX_QUERY_CHARS)
    throw new OpenClawError(
      "memory.query-too-long",
      `the query has ${query.length} characters; ${MAX_QUERY_CHARS} at most`,
      {
        hint: "shorten the query to a few words",
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
  return runs.flatMap((run) => (unspaced.test(run) ? neighbors(run) : [plain(run)]));
}

const runsOf = new RegExp(`(?:${unspaced.source})+|(?:(?!${unspaced.source})[\\p{L}\\p{M}\\p{N}])+`, "gu");

/** Pairs of characters: long enough to be specific, short enough to match other sentences. */
function neighbors(run: string): Term[] {
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

/** Removes case and diacritics, as the index does. */
export function fold(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

// Stop words: ignored unless the query has no other words.
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
