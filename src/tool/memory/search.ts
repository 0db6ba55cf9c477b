// The memory_search tool: finds passages of notes.
import { Type } from "../../core/schema.ts";
import type { Memory } from "../../memory/memory.ts";
import { defineTool, nonBlank } from "../tool.ts";
import { memoryAvailable, toNoteResult } from "./notes.ts";

const noMatch = {
  type: "text",
  text: "No note matches. Only MEMORY.md and the files in memory/ were searched; for other files use exec with grep.",
} as const;

export const createMemorySearch = (memory: Pick<Memory, "search">) =>
  defineTool({
    name: "memory_search",
    summary: "Search your notes",
    description:
      "Search your notes (MEMORY.md and memory/) before you answer about earlier work, people, dates, preferences or decisions. For other files use exec with grep.",
    params: Type.Object(
      {
        query: nonBlank("What to look for: a question or keywords."),
        maxResults: Type.Optional(Type.Integer({ description: "Maximum number of passages (default 6)." })),
        minScore: Type.Optional(
          Type.Number({ description: "Lowest relevance, from 0 to 1 (default: as configured)." }),
        ),
      },
      { additionalProperties: false },
    ),
    available: memoryAvailable,
    intent: () => ({ does: "look" }),
    async run(args, { agent, session, signal }) {
      const answer = await memory.search({ ...args, agent, session, signal });
      const found = toNoteResult(answer, `memory of ${agent}`);
      return answer.results.length > 0 ? found : { ...found, content: [...found.content, noMatch] };
    },
  });
