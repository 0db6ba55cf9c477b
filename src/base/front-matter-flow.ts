// Values of front matter that stand on one line or in brackets: words, numbers, quotes, lists and maps as in JSON.

/** Throws SyntaxError. Trailing commas and words without quotes are fine. */
export function readFlow(text: string, maxDepth: number): unknown {
  const reader: Reader = { text, at: 0 };
  const value = readNode(reader, maxDepth);
  skipBlank(reader);
  if (reader.at < text.length) throw new SyntaxError("something stands behind the closing bracket");
  return value;
}

/** True when every bracket that opens in it is closed. Brackets in quotes do not count. */
export function flowEnds(text: string): boolean {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'/gs, "").replaceAll(/(^|\s)#[^\n]*/g, "$1");
  let open = 0;
  for (const char of bare) {
    if (char === "{" || char === "[") open += 1;
    if (char === "}" || char === "]") open -= 1;
  }
  return open <= 0 && !/["']/.test(bare);
}

/** One value on a line, with a remark behind it or not. */
export function readScalar(text: string): unknown {
  const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:#.*)?$/.exec(text);
  if (quoted !== null) return unquoted(quoted[1] ?? "");
  if (/^["']/.test(text)) throw new SyntaxError("a quote is not closed, or something stands behind it");
  return plain(text.replace(/\s+#.*$/, "").trim());
}

interface Reader {
  readonly text: string;
  at: number;
}

function skipBlank(reader: Reader): void {
  const found = /(?:\s|(?<=^|\s)#[^\n]*)*/y;
  found.lastIndex = reader.at;
  reader.at += found.exec(reader.text)?.[0].length ?? 0;
}

function readNode(reader: Reader, depth: number): unknown {
  if (depth <= 0) throw new SyntaxError("nested too deep");
  skipBlank(reader);
  const char = reader.text[reader.at];
  if (char === "{") return readMap(reader, depth);
  if (char === "[") return readList(reader, depth);
  return readWord(reader);
}

function readMap(reader: Reader, depth: number): Record<string, unknown> {
  const fields = new Map<string, unknown>();
  reader.at += 1;
  for (skipBlank(reader); !closes(reader, "}"); separate(reader, "}")) {
    const key = String(readWord(reader, true));
    if (fields.has(key)) throw new SyntaxError(`the key ${key} stands here twice`);
    if (key === "__proto__") throw new SyntaxError("no key may be called __proto__");
    skipBlank(reader);
    if (reader.text[reader.at] !== ":") throw new SyntaxError(`expected a colon behind ${key}`);
    reader.at += 1;
    fields.set(key, readNode(reader, depth - 1));
  }
  return Object.fromEntries(fields);
}

function readList(reader: Reader, depth: number): unknown[] {
  const items: unknown[] = [];
  reader.at += 1;
  for (skipBlank(reader); !closes(reader, "]"); separate(reader, "]")) items.push(readNode(reader, depth - 1));
  return items;
}

function closes(reader: Reader, bracket: string): boolean {
  if (reader.text[reader.at] === undefined) throw new SyntaxError(`a ${bracket} is missing`);
  if (reader.text[reader.at] !== bracket) return false;
  reader.at += 1;
  return true;
}

function separate(reader: Reader, bracket: string): void {
  skipBlank(reader);
  if (reader.text[reader.at] === ",") reader.at += 1;
  else if (reader.text[reader.at] !== bracket) throw new SyntaxError(`expected a comma or ${bracket}`);
  skipBlank(reader);
}

function readWord(reader: Reader, isKey = false): unknown {
  const found = isKey
    ? /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,[\]{}:"'#][^,[\]{}:\n]*/y
    : /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,[\]{}"'#][^,[\]{}\n]*/y;
  found.lastIndex = reader.at;
  const word = found.exec(reader.text)?.[0];
  if (word === undefined) throw new SyntaxError("expected a value");
  reader.at += word.length;
  if (/^["']/.test(word)) return unquoted(word);
  const bare = word.replace(/\s+#.*$/, "").trim();
  return isKey ? bare : plain(bare);
}

function unquoted(word: string): string {
  if (word.startsWith("'")) return word.slice(1, -1).replaceAll("''", "'");
  try {
    return JSON.parse(word.replaceAll(/[\t\n]+/g, " ")) as string;
  } catch {
    throw new SyntaxError("an escape in these quotes is unknown");
  }
}

function plain(word: string): unknown {
  if (/^[&*!%@`|>]/.test(word))
    throw new SyntaxError(`${word.slice(0, 1)} has a meaning that is not supported; use quotes`);
  if (/:\s/.test(word)) throw new SyntaxError("a colon inside a value needs quotes");
  if (word === "" || word === "~" || word === "null") return null;
  if (word === "true") return true;
  if (word === "false") return false;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word) ? Number(word) : word;
}
