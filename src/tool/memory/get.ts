// The memory_get tool: reads lines of a note.
import { Type } from "../../core/schema.ts";
import type { Memory } from "../../memory/memory.ts";
import { defineTool, nonBlank } from "../tool.ts";
import { memoryAvailable, toNoteResult } from "./notes.ts";

export const createMemoryGet = (memory: Pick<Memory, "read">) =>
  defineTool({
    name: "memory_get",
    summary: "Read a note",
    description: "Read a note, usually one that memory_search found: MEMORY.md or a file in memory/.",
    verbatim: true,
    params: Type.Object(
      {
        path: nonBlank("Note to read, such as MEMORY.md or memory/2030-01-31.md."),
        from: Type.Optional(Type.Integer({ description: "Line to start from, counted from 1 (default 1)." })),
        lines: Type.Optional(Type.Integer({ description: "Number of lines (default: to the end)." })),
      },
      { additionalProperties: false },
    ),
    available: memoryAvailable,
    intent: ({ path }) => ({ does: "read", paths: [path] }),
    async run(args, { agent, session }) {
      return toNoteResult(await memory.read({ ...args, agent, session }), `memory of ${agent}`);
    },
  });
