// memory_get: lines of one memory file, and of no other file.
import { Type } from "../../core/schema.ts";
import type { Memory } from "../../memory/memory.ts";
import { defineTool } from "../tool.ts";
import { memoryAvailable } from "./available.ts";
import { recalled } from "./recalled.ts";

export const createMemoryGet = (memory: Pick<Memory, "read">) =>
  defineTool({
    name: "memory_get",
    summary: "Read lines of a note",
    description: "Read lines of MEMORY.md or memory/*.md, from line `from`.",
    verbatim: true,
    params: Type.Object(
      {
        path: Type.String(),
        from: Type.Optional(Type.Integer()),
        lines: Type.Optional(Type.Integer()),
      },
      { additionalProperties: false },
    ),
    available: memoryAvailable,
    intent: ({ path }) => ({ does: "read", paths: [path] }),
    async run(args, { agent, session }) {
      return recalled(await memory.read({ ...args, agent, session }), `memory of ${agent}`);
    },
  });
