// Splits a text that is longer than the model's window, so that the end of a note counts, too.

const charsPerToken = 4;
const dense = /[\u2E80-\u9FFF\uAC00-\uD7FF\uF900-\uFAFF]/;

export function windowsOf(text: string, maxTokens: number): string[] {
  // Leaves a margin: rare words need more tokens than the average.
  const size = Math.max(64, Math.floor(maxTokens * 0.9 * (dense.test(text) ? 1 : charsPerToken)));
  if (text.length <= size) return [text];
  const windows: string[] = [];
  for (let at = 0; at < text.length;) {
    // Parts of similar length: a short remainder would weigh as much as a whole part.
    const left = text.length - at;
    const end = cutAfter(text, at + Math.ceil(left / Math.ceil(left / size)));
    windows.push(text.slice(at, end));
    at = end;
  }
  return windows.filter((part) => /\S/.test(part));
}

/** Cuts after a word, unless the word is very long; never inside a character. */
function cutAfter(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const space = text.slice(end - 1, end + 40).search(/\s/);
  if (space >= 0) return end + space;
  const isSplitPair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(end));
  return isSplitPair ? end + 1 : end;
}
