// Search quality: is the right note among the first five, by words alone, by meaning alone (local model), and by both.
import { measureRecall, readSet, type Kind, type Score, type Scores, type Way } from "./recall/measure.ts";
import type { Row } from "./table.ts";

const ways: readonly Way[] = ["text", "vectors", "hybrid"];
const labels = { meaning: "questions in other words", words: "in the note's words", all: "all" } as const;
const kinds: readonly (Kind | "all")[] = ["meaning", "words", "all"];

/** Takes some minutes: the local model reads every note. `RECALL_EVERY=4` takes a quarter of them. */
export async function benchRecall(): Promise<Row[]> {
  const set = readSet(Number(process.env["RECALL_EVERY"] ?? 1));
  const scores = await measureRecall(set);
  if (scores === undefined) {
    console.log("\nrecall: left out, the local model is not installed (openclaw memory extra add)");
    return [];
  }
  console.log(`\n${set.notes.size} notes, ${set.questions.length} questions; recall@5 / MRR`);
  console.log(`  ${"".padEnd(10)}${kinds.map((kind) => kind.padEnd(16)).join("")}`);
  for (const way of ways)
    console.log(`  ${way.padEnd(10)}${kinds.map((kind) => shown(scores[way][kind]).padEnd(16)).join("")}`);
  return [
    ...ways.map((way) => ({
      what: `${way}, ${kinds.map((kind) => labels[kind]).join("; ")}: recall@5 / MRR`,
      bar: "",
      figure: kinds.map((kind) => shown(scores[way][kind])).join("; "),
      reached: true,
    })),
    beats("recall@5 of hybrid beats each half", scores, "recall"),
    beats("MRR of hybrid beats each half", scores, "mrr"),
  ];
}

const shown = ({ recall, mrr }: Score): string => `${recall.toFixed(3)} / ${mrr.toFixed(3)}`;

function beats(what: string, scores: Scores, measure: keyof Score): Row {
  const [text, vectors, hybrid] = ways.map((way) => scores[way].all[measure]) as [number, number, number];
  const best = Math.max(text, vectors);
  return {
    what,
    bar: `> ${best.toFixed(3)}`,
    figure: `${hybrid.toFixed(3)} (text ${text.toFixed(3)}, vectors ${vectors.toFixed(3)})`,
    reached: hybrid > best,
  };
}
