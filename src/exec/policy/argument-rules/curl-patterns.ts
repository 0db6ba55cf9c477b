// Expands the {a,b} and [a-c] patterns of curl addresses, so that no scheme can hide in them.

/** Schemes are short, so only the beginning of each word is expanded. */
const maxSpellings = 256;

/** Every word that curl may produce; undefined when there are too many. Unbalanced braces stand for themselves. */
export function curlSpellings(word: string): readonly string[] | undefined {
  const group = /(?<!\\)(?:\{([^{}]*)\}|\[([a-z])-([a-z])(?::\d+)?\]|\[(\d+)-\d+(?::\d+)?\])/i.exec(word);
  // After a complete scheme the rest cannot change it.
  if (group === null || /^[a-z]+:\/\//i.test(word.slice(0, group.index))) return [word];
  const [text, list, from, to, number] = group;
  const choices =
    list !== undefined ? list.replaceAll("\\", "").split(",") : number !== undefined ? [number] : lettersFrom(from, to);
  const rest = curlSpellings(word.slice(group.index + text.length));
  if (rest === undefined || choices.length * rest.length > maxSpellings) return undefined;
  const head = word.slice(0, group.index);
  return [word, ...choices.flatMap((choice) => rest.map((tail) => head + choice + tail))];
}

function lettersFrom(from = "", to = ""): readonly string[] {
  const first = from.charCodeAt(0);
  return Array.from({ length: Math.max(0, to.charCodeAt(0) - first + 1) }, (_, at) => String.fromCharCode(first + at));
}
