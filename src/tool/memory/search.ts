// memory_search: pieces of the agent's notes that answer a question, each with its place. What comes back is material.
import { Type } from "../../core/schema.ts";
import type { Memory } from "../../memory/memory.ts";
import { defineTool } from "../tool.ts";
import { memoryAvailable } from "./available.ts";
import { recalled } from "./recalled.ts";

export const createMemorySearch = (memory: Pick<Memory, "search">) =>
  defineTool({
    name: "memory_search",
    summary: "Search your notes",
    description: "Search your notes before you answer about earlier work, people, dates or decisions.",
    params: Type.Object(
      {
        query: Type.String(),
        maxResults: Type.Optional(Type.Integer()),
        minScore: Type.Optional(Type.Number()),
      },
      { additionalProperties: false },
    ),
    available: memoryAvailable,
    intent: () => ({ does: "look" }),
    async run(args, { agent, session, signal }) {
      const answer = await memory.search({ ...args, agent, session, signal });
      return recalled(answer, `memory of ${agent}`);
    },
  });
