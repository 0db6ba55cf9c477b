// Divides a text into chunks of a given number of tokens that overlap by some lines; line ranges are exact.

export interface Chunk {
  /** From 1, both inclusive. */
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

export interface ChunkSize {
  readonly tokens: number;
  readonly overlap: number;
}

interface Piece {
  readonly line: number;
  readonly text: string;
  readonly weight: number;
}

const CHARS_PER_TOKEN = 4;
// Scripts in which one character is about one token.
const dense = /[\u2E80-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF00-\uFFEF]/;
const denseAll = new RegExp(dense.source, "g");

export function chunkText(text: string, { tokens, overlap }: ChunkSize): Chunk[] {
  const max = Math.max(1, tokens) * CHARS_PER_TOKEN;
  const shared = Math.min(Math.max(0, overlap) * CHARS_PER_TOKEN, Math.floor(max / 2));
  const chunks: Chunk[] = [];
  let open: Piece[] = [];
  let weight = 0;
  // Lines taken over from the previous chunk; alone they are no new chunk.
  let kept = 0;
  for (const piece of piecesOf(text, max)) {
    if (weight + piece.weight > max && open.length > kept) {
      pushChunk(chunks, open);
      open = tailOf(open, Math.min(shared, max - piece.weight));
      kept = open.length;
      weight = open.reduce((sum, each) => sum + each.weight, 0);
    }
    open.push(piece);
    weight += piece.weight;
  }
  if (open.length > kept) pushChunk(chunks, open);
  return chunks;
}

function pushChunk(chunks: Chunk[], pieces: readonly Piece[]): void {
  const first = pieces.findIndex(isWritten);
  if (first < 0) return;
  const written = pieces.slice(first, pieces.findLastIndex(isWritten) + 1);
  chunks.push({
    startLine: written[0]?.line ?? 1,
    endLine: written.at(-1)?.line ?? 1,
    text: joined(written),
  });
}

const isWritten = ({ text }: Piece): boolean => /\S/.test(text);

/** Joins the parts of one long line again. */
function joined(pieces: readonly Piece[]): string {
  return pieces.map(({ line, text }, at) => (at > 0 && pieces[at - 1]?.line !== line ? `\n${text}` : text)).join("");
}

function tailOf(pieces: readonly Piece[], maxWeight: number): Piece[] {
  let weight = 0;
  let at = pieces.length;
  while (at > 1) {
    weight += pieces[at - 1]?.weight ?? 0;
    if (weight > maxWeight) break;
    at -= 1;
  }
  return pieces.slice(at);
}

function* piecesOf(text: string, max: number): Generator<Piece> {
  let line = 0;
  for (const raw of text.split("\n")) {
    line += 1;
    const content = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const weight = weightOf(content);
    if (weight <= max) yield { line, text: content, weight };
    else for (const part of partsOf(content, max)) yield { line, text: part, weight: weightOf(part) };
  }
}

/** The line end counts, too. */
function weightOf(text: string): number {
  if (!dense.test(text)) return text.length + 1;
  return text.length + 1 + (text.match(denseAll)?.length ?? 0) * (CHARS_PER_TOKEN - 1);
}

/** Splits a long line, at a space where one is near, never inside a character. */
function* partsOf(line: string, max: number): Generator<string> {
  const size = Math.max(8, dense.test(line) ? Math.floor((max - 1) / CHARS_PER_TOKEN) : max - 1);
  for (let at = 0; at < line.length;) {
    const end = cutBefore(line, at, at + size);
    yield line.slice(at, end);
    at = end;
  }
}

function cutBefore(line: string, start: number, end: number): number {
  if (end >= line.length) return line.length;
  const space = line.lastIndexOf(" ", end - 1);
  if (space > start + (end - start) * 0.75) return space + 1;
  const isSplitPair = /[\uD800-\uDBFF]/.test(line.charAt(end - 1)) && /[\uDC00-\uDFFF]/.test(line.charAt(end));
  return isSplitPair ? end - 1 : end;
}
