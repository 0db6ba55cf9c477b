// `openclaw memory index`: indexes changed notes now; with --force it builds a new index that replaces the old one.
import { defineCommand } from "../command.ts";
import { agentsFor, withMemory } from "../memory-here.ts";
import { counted, safe, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  details: "Indexes only changed notes, unless forced. A failure leaves the index unchanged.",
  options: {
    agent: { type: "string", value: "id", description: "Only this agent." },
    force: { type: "boolean", description: "Rebuild the whole index next to the old one, then switch." },
    verbose: { type: "boolean", description: "Also show skipped files with the reason." },
    ...wireOptions,
  },
  examples: [
    { line: "memory index", does: "changed notes" },
    { line: "memory index --force --agent main", does: "all notes of one agent" },
  ],
  async run(io, { options }) {
    const { agent, force = false, verbose = false, ...wire } = options;
    const agents = await agentsFor(io, agent);
    const reports = await withMemory(io, wire, async (memory) => {
      const done: ({ agentId: string } & Awaited<ReturnType<typeof memory.index>>)[] = [];
      for (const id of agents) done.push({ agentId: id, ...(await memory.index(id, force)) });
      return done;
    });
    if (io.json) {
      io.print(toJson(reports));
      return 0;
    }
    for (const { agentId, files, chunks, changed, removed, skipped, ms } of reports) {
      io.print(
        `${agentId}: ${counted(files, "file")}, ${counted(chunks, "chunk")}; ${changed} indexed, ${removed} removed (${ms} ms)`,
      );
      if (verbose) for (const { path, why } of skipped) io.print(safe(`  skipped: ${path} ${why}`));
    }
    return 0;
  },
});
