// Memory against grep and one bare full-text insert of the same bytes; then questions, an edit, and the loop meanwhile.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";

import { resolvePaths } from "../src/base/paths.ts";
import type { Log } from "../src/base/log.ts";
import type { Config } from "../src/config/schema/index.ts";
import { DEFAULT_AGENT } from "../src/core/names.ts";
import type { Memory } from "../src/memory/memory.ts";
import { openMemory } from "../src/memory/open.ts";
import { besideIdle, idleNote } from "./idle-loop.ts";
import { atMost, quantile, round, type Row } from "./table.ts";

const NOTES = 10_000;
const NOTE_BYTES = 5_000;
const QUESTIONS = 500;

export async function benchMemory(): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), "bench-memory-"));
  const paths = resolvePaths({ HOME: home });
  const notes = join(paths.state, "workspace", "memory");
  writeNotes(notes);
  const config: Config = { agents: { defaults: { memorySearch: { provider: "none" } } } } as Config;
  const memory = openMemory({ config: () => config, paths, log: quiet });
  try {
    const bareMs = bareIndex(notes, join(home, "bare.sqlite"));
    const loop = monitorEventLoopDelay({ resolution: 5 });
    loop.enable();
    const started = performance.now();
    const { value, idleMs } = await besideIdle(() => memory.index(DEFAULT_AGENT));
    const oursMs = performance.now() - started;
    loop.disable();
    const delayMs = Math.max(0, loop.percentile(99) / 1e6 - 5);
    const times = await askMany(memory);
    const editMs = await editFound(memory, join(notes, "05", "n5.md"));
    return [
      atMost(
        `index ${NOTES} notes (${Math.round((NOTES * NOTE_BYTES) / 1e6)} MB), words only`,
        oursMs / bareMs,
        3,
        "x grep -c + bare insert",
        `${round(oursMs)} ms for ${value.chunks} pieces, bare ${round(bareMs)} ms`,
      ),
      atMost("loop delay of the main thread meanwhile, p99", delayMs, 50, " ms", idleNote(delayMs, idleMs)),
      atMost("search, p99", quantile(times, 0.99), 20, " ms", `p50 ${round(quantile(times, 0.5))} ms`),
      atMost("an edit of one line is found after", editMs, 1000, " ms"),
    ];
  } finally {
    await memory.close();
    rmSync(home, { recursive: true, force: true });
  }
}

const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };

/** The same bytes once through grep and once into a full-text table, in one transaction. */
function bareIndex(notes: string, file: string): number {
  const started = performance.now();
  spawnSync("grep", ["-rc", "note", notes], { stdio: "ignore" });
  const database = new DatabaseSync(file);
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE VIRTUAL TABLE words USING fts5 (text); BEGIN",
  );
  const insert = database.prepare("INSERT INTO words VALUES (?)");
  for (const folder of readdirSync(notes))
    for (const name of readdirSync(join(notes, folder))) insert.run(readFileSync(join(notes, folder, name), "utf8"));
  database.exec("COMMIT");
  database.close();
  return performance.now() - started;
}

async function askMany(memory: Memory): Promise<number[]> {
  const chance = chances(3);
  const times: number[] = [];
  for (let at = 0; at < QUESTIONS; at += 1) {
    const query = Array.from({ length: 1 + (at % 5) }, () => wordOf(chance)).join(" ");
    const started = performance.now();
    const { disabled } = await memory.search({ agent: DEFAULT_AGENT, query });
    times.push(performance.now() - started);
    if (disabled === true) throw new Error("a search was not answered");
  }
  return times;
}

async function editFound(memory: Memory, file: string): Promise<number> {
  appendFileSync(file, "a line about xylophones\n");
  const started = performance.now();
  while ((await memory.search({ agent: DEFAULT_AGENT, query: "xylophones" })).results.length === 0) {
    if (performance.now() - started > 10_000) throw new Error("the edit was never found");
  }
  return performance.now() - started;
}

/** Words as often as words are: few of them make up most of the text. */
function writeNotes(folder: string): void {
  const chance = chances(7);
  for (let at = 0; at < NOTES; at += 1) {
    const below = join(folder, String(at % 100).padStart(2, "0"));
    if (at < 100) mkdirSync(below, { recursive: true });
    let text = `# note ${at}\n`;
    while (text.length < NOTE_BYTES) text += `${Array.from({ length: 12 }, () => wordOf(chance)).join(" ")}\n`;
    writeFileSync(join(below, `n${at}.md`), text);
  }
}

const syllables = "ba ke ri to mu sa le no vi da gor pel tin ras mon fi".split(" ");

function wordOf(chance: () => number): string {
  let rest = Math.floor(chance() ** 3 * 20_000) + 7;
  let word = "";
  for (; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16];
  return word;
}

/** The same notes in every run. */
function chances(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}
