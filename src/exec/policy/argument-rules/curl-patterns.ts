// curl writes out {a,b} and [a-c] in addresses itself: what a word stands for, so that no scheme is hidden in them.

/** Schemes are short: what begins one of these words is all that is asked for. */
const maxSpellings = 256;

/** Every word that curl may make of it; undefined when there are too many to look at. Odd braces mean themselves. */
export function curlSpellings(word: string): readonly string[] | undefined {
  const group = /(?<!\\)(?:\{([^{}]*)\}|\[([a-z])-([a-z])(?::\d+)?\]|\[(\d+)-\d+(?::\d+)?\])/i.exec(word);
  // Behind a whole scheme nothing can change it any more.
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
