// The undo record of one turn on disk: a header line, one line per change, and old contents by hash.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { checker, Type, type Static } from "../../core/schema.ts";

const hash = Type.String({ pattern: "^[0-9a-f]{64}$" });

const head = Type.Object({
  turn: Type.String(),
  session: Type.String(),
  at: Type.Number(),
  /** The number of the turn that this one undid. */
  undoes: Type.Optional(Type.Integer()),
});

const copy = Type.Object({
  hash,
  mode: Type.Integer(),
  size: Type.Integer(),
  /** Short content in base64, so that one flush saves everything. Otherwise the content is in a file named by the hash. */
  content: Type.Optional(Type.String()),
});
const lost = Type.Object({ lost: Type.String(), size: Type.Integer() });

const first = Type.Object({
  path: Type.String(),
  /** Null when no file had that name. */
  before: Type.Union([copy, lost, Type.Null()]),
  /** Null when the file will be removed. */
  after: Type.Union([hash, Type.Null()]),
  /** Folders that are created with it, outermost first. */
  fresh: Type.Array(Type.String()),
});

const again = Type.Object({ path: Type.String(), after: Type.Union([hash, Type.Null()]) });
const failure = Type.Object({ path: Type.String(), failed: Type.Literal(true) });
const done = Type.Object({ done: Type.Literal(true) });

export type TurnHead = Static<typeof head>;
export type Copy = Static<typeof copy>;
export type FirstChange = Static<typeof first>;
export type TurnLine = TurnHead | FirstChange | Static<typeof again> | Static<typeof failure> | Static<typeof done>;

/** One file of a turn: its content before, and every content that the turn wrote or was about to write. */
export interface TurnFile {
  readonly path: string;
  readonly before: FirstChange["before"];
  readonly after: ReadonlySet<string | null>;
  readonly fresh: readonly string[];
}

export interface Turn {
  /** Counts from 1 within the session, with gaps where old turns were deleted. */
  readonly seq: number;
  readonly folder: string;
  readonly head: TurnHead;
  readonly files: ReadonlyMap<string, TurnFile>;
  /** True for an undo that was completed. */
  readonly done: boolean;
}

export const LINES = "turn.jsonl";

export const hashOf = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/** Session keys contain characters that file names cannot. */
export const sessionFolder = (base: string, session: string): string => join(base, hashOf(session).slice(0, 32));

export const turnFolder = (folder: string, seq: number): string => join(folder, String(seq).padStart(8, "0"));

/** Oldest first. */
export async function turnNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(unlessMissing<string[]>([]));
  return names
    .filter((name) => /^\d{8,}$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

/** Undefined when its first line is missing or torn: then nothing was changed under it. */
export async function readTurn(sessionAt: string, seq: number): Promise<Turn | undefined> {
  const folder = turnFolder(sessionAt, seq);
  const text = await readFile(join(folder, LINES), "utf8").catch(unlessMissing(""));
  const [top, ...rest] = text.split("\n").flatMap(parsed);
  if (!checks.head.is(top)) return undefined;
  const files = new Map<string, TurnFile & { readonly after: Set<string | null> }>();
  for (const line of rest) takeLine(files, line);
  return { seq, folder, head: top, files, done: rest.some((line) => checks.done.is(line)) };
}

const checks = {
  head: checker(head),
  first: checker(first),
  again: checker(again),
  failure: checker(failure),
  done: checker(done),
};

function takeLine(files: Map<string, TurnFile & { readonly after: Set<string | null> }>, line: unknown): void {
  if (checks.first.is(line)) {
    const { path, before, after, fresh } = line;
    files.set(path, { path, before, after: new Set([after]), fresh });
  } else if (checks.failure.is(line)) files.delete(line.path);
  else if (checks.again.is(line)) files.get(line.path)?.after.add(line.after);
}

/** A torn last line belongs to a change that did not start. */
function parsed(line: string): unknown[] {
  try {
    return line === "" ? [] : [JSON.parse(line)];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

export function unlessMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (errnoOf(error) === "ENOENT") return instead;
    throw error;
  };
}
