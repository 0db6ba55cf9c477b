// Memory for clients: index state, indexing, searching.
import { memoryIndex, memorySearch, memoryStatus } from "../../protocol/methods/memory.ts";
import type { Memory } from "../../memory/memory.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export function memoryMethods({ config, mask }: GatewayContext, memory: Memory): Served[] {
  const agentOf = (agentId: string | undefined) => subjectOf({ agentId }, config()).agent;
  return [
    serve(memoryStatus)(async ({ agentId, deep = false }) => memory.status(agentOf(agentId), { deep })),
    serve(memoryIndex)(async ({ agentId, force = false }) => memory.index(agentOf(agentId), { force })),
    serve(memorySearch)(async ({ agentId, ...query }) => {
      const answer = await memory.search({ agent: agentOf(agentId), ...query });
      return { ...answer, results: answer.results.map((hit) => ({ ...hit, snippet: mask(hit.snippet) })) };
    }),
  ];
}
