// Memory as clients ask for it: its state, reading notes in, searching. Ours.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, word } from "../method.ts";

export const memoryStatus = method(
  "memory.status",
  "operator.read",
  Type.Object({ agentId: maybe(word), deep: maybe(Type.Boolean()) }, closed),
  { announced: false },
);

export const memoryIndex = method(
  "memory.index",
  "operator.write",
  Type.Object({ agentId: maybe(word), force: maybe(Type.Boolean()) }, closed),
  { announced: false },
);

export const memorySearch = method(
  "memory.search",
  "operator.read",
  Type.Object(
    {
      agentId: maybe(word),
      query: Type.String({ minLength: 1, maxLength: 8000 }),
      maxResults: maybe(Type.Integer({ minimum: 1, maximum: 50 })),
      minScore: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    },
    closed,
  ),
  { announced: false },
);
