// `openclaw memory search`: searches an agent's notes, as the agent would.
import type { MemoryAnswer } from "../../memory/memory.ts";
import { defineCommand, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { agentFor, withMemory, type SearchRequest } from "../memory-here.ts";
import { wholeNumber } from "../parse.ts";
import { safe, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  details: "Asks the running gateway; if no gateway runs on this machine, searches the index directly.",
  arguments: [{ name: "query", description: "What to look for.", many: true }],
  options: {
    agent: { type: "string", value: "id", description: "Whose notes (default: the default agent's)." },
    "max-results": { type: "string", value: "n", description: "Maximum number of results." },
    "min-score": { type: "string", value: "0-1", description: "Omit results with a lower score." },
    verbose: { type: "boolean", description: "Also show how each result was found." },
    ...wireOptions,
  },
  examples: [
    { line: 'memory search "when does the lease end"', does: "snippets with path and lines" },
    { line: "memory search lease --json --max-results 3", does: "as JSON" },
  ],
  exits: "0 success, also without results; 1 the search is not available, 2 wrong usage",
  async run(io, { options, arguments: words }) {
    const { agent, "max-results": _max, "min-score": _min, verbose = false, ...wire } = options;
    const request = requestOf(words.join(" "), options["max-results"], options["min-score"]);
    const id = await agentFor(io, agent);
    const answer = await withMemory(io, wire, (memory) => memory.search(id, request));
    if (io.json) io.print(toJson(answer));
    else print(io, answer, verbose);
    return answer.disabled === true ? 1 : 0;
  },
});

function requestOf(query: string, max: string | undefined, min: string | undefined): SearchRequest {
  const maxResults = wholeNumber("max-results", max, { min: 1, max: 50 });
  const minScore = min === undefined ? undefined : Number(min);
  if (minScore !== undefined && !(minScore >= 0 && minScore <= 1))
    throw new UsageError("--min-score must be a number from 0 to 1");
  return {
    query,
    ...(maxResults === undefined ? {} : { maxResults }),
    ...(minScore === undefined ? {} : { minScore }),
  };
}

function print(io: Io, answer: MemoryAnswer, verbose: boolean): void {
  if (answer.error !== undefined) io.say(safe(answer.error));
  else if (answer.results.length === 0) io.say("No results.");
  for (const { path, startLine, endLine, score, snippet } of answer.results) {
    const text = snippet.replace(/\n\nSource: [^\n]*$/, "");
    const place = `${path}:${startLine}${endLine === startLine ? "" : `-${endLine}`}`;
    io.print(`${io.paint.strong(safe(place))}  ${score.toFixed(2)}\n${safe(text).replaceAll(/^/gm, "  ")}\n`);
  }
  const notes = verbose ? [`provider: ${answer.provider}`, ...(answer.notes ?? [])] : (answer.notes ?? []);
  for (const note of notes) io.say(safe(note));
}
