// The recall benchmark itself: notes into a real memory, every question asked three ways, the place of the right note.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "../../src/base/clock.ts";
import type { Log } from "../../src/base/log.ts";
import type { Paths } from "../../src/base/paths.ts";
import type { Config } from "../../src/config/schema/index.ts";
import { parseAgentId } from "../../src/core/names.ts";
import { openEmbedders } from "../../src/memory/embed/open.ts";
import type { MemoryHit } from "../../src/memory/memory.ts";
import { openMemory } from "../../src/memory/open.ts";

export type Way = "text" | "vectors" | "hybrid";
export type Kind = "meaning" | "words";

export interface Question {
  readonly ask: string;
  readonly note: string;
  readonly kind: Kind;
}

export interface Score {
  readonly recall: number;
  readonly mrr: number;
}

export interface NoteSet {
  readonly notes: ReadonlyMap<string, string>;
  readonly questions: readonly Question[];
}

export type Scores = Readonly<Record<Way, Readonly<Record<Kind | "all", Score>>>>;

/** `every` thins it out: each so many-th note that has a question, each so many-th other one, and the questions to them. */
export function readSet(every = 1): NoteSet {
  const parts = readFileSync(join(import.meta.dirname, "notes.md"), "utf8")
    .split(/^## /m)
    .slice(1);
  const all = parts.map((part) => [part.slice(0, part.indexOf("\n")), `# ${part.trim()}\n`] as const);
  const lines = readFileSync(join(import.meta.dirname, "questions.jsonl"), "utf8")
    .trim()
    .split("\n");
  const questions = lines.map((line) => JSON.parse(line) as Question);
  const asked = new Set(questions.filter(({ kind }) => kind === "meaning").map(({ note }) => note));
  const thin = (list: typeof all): typeof all => list.filter((_, at) => at % every === 0);
  const kept = new Map([
    ...thin(all.filter(([name]) => asked.has(name))),
    ...thin(all.filter(([name]) => !asked.has(name))),
  ]);
  return { notes: kept, questions: questions.filter(({ note }) => kept.has(note)) };
}

/** With the local model; undefined when it is not installed. */
export async function measureRecall({ notes, questions }: NoteSet): Promise<Scores | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "recall-"));
  const paths: Paths = {
    home: folder,
    state: folder,
    config: join(folder, "openclaw.json"),
    product: "openclaw",
    profile: undefined,
  };
  const notesFolder = join(folder, "workspace", "memory");
  mkdirSync(notesFolder, { recursive: true });
  for (const [name, text] of notes) writeFileSync(join(notesFolder, fileOf(name)), text);
  let now = configFor("hybrid", folder);
  const config = (): Config => now;
  const embedders = openEmbedders({ config, env: {}, paths, clock: systemClock, log: quiet });
  const memory = openMemory({ config, paths, log: quiet, embedder: embedders.open });
  try {
    await memory.index(agent, { vectors: true });
    const { vectors } = await memory.status(agent);
    if (vectors.ready === 0) return undefined;
    const ask = async (query: string, way: Way, tries = 5): Promise<readonly MemoryHit[]> => {
      const { results, provider, notes = [] } = await memory.search({ agent, query });
      if ((provider === "none") === (way === "text")) return results;
      // On a busy machine the vector of a question may come too late; a person would get words only, we ask again.
      if (tries > 1) return ask(query, way, tries - 1);
      throw new Error(`${way} was answered by ${provider}: ${notes.join("; ")}`);
    };
    const run = async (way: Way): Promise<Scores[Way]> => {
      now = configFor(way, folder);
      const places = new Map<Question, number>();
      for (const question of questions) {
        const results = await ask(question.ask, way);
        const files = [...new Set(results.map(({ path }) => path))];
        places.set(question, files.indexOf(`memory/${fileOf(question.note)}`));
      }
      const scoreOf = (kind: Kind | "all"): Score =>
        score([...places].flatMap(([question, place]) => (kind === "all" || question.kind === kind ? [place] : [])));
      return { all: scoreOf("all"), meaning: scoreOf("meaning"), words: scoreOf("words") };
    };
    // Words last: without a use for it the model would be put away.
    return { hybrid: await run("hybrid"), vectors: await run("vectors"), text: await run("text") };
  } finally {
    await memory.close();
    await embedders.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const agent = parseAgentId("main");
const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };
const fileOf = (name: string): string => `${name.replaceAll(/\W+/g, "-").toLowerCase()}.md`;

/** Hybrid as it comes; the halves with all they find, however weak. */
function configFor(way: Way, folder: string): Config {
  const hybrid = way === "vectors" ? { vectorWeight: 1, textWeight: 0 } : {};
  const query = way === "hybrid" ? {} : { query: { minScore: 0, hybrid } };
  const memorySearch = { provider: way === "text" ? ("none" as const) : ("local" as const), ...query };
  return { agents: { defaults: { workspace: join(folder, "workspace"), memorySearch } } };
}

function score(places: readonly number[]): Score {
  const mean = (of: (place: number) => number): number =>
    places.reduce((sum, place) => sum + (place < 0 ? 0 : of(place)), 0) / Math.max(1, places.length);
  return { recall: mean((place) => (place < 5 ? 1 : 0)), mrr: mean((place) => 1 / (place + 1)) };
}
