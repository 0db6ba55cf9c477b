// `openclaw memory index`: reads the notes in now; with --force into a new index that then takes the place of the old.
import { defineCommand } from "../command.ts";
import { agentsFor, withMemory } from "../memory-here.ts";
import { counted, safe, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  details: "Only what changed, unless forced. A failure leaves the index as it was.",
  options: {
    agent: { type: "string", value: "id", description: "Only this agent." },
    force: { type: "boolean", description: "Rebuild the whole index next to the old one, then switch." },
    verbose: { type: "boolean", description: "Also what was left out, and why." },
    ...wireOptions,
  },
  examples: [
    { line: "memory index", does: "what changed" },
    { line: "memory index --force --agent main", does: "everything of one agent" },
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
        `${agentId}: ${counted(files, "file")}, ${counted(chunks, "piece")}; ${changed} read in, ${removed} taken out (${ms} ms)`,
      );
      if (verbose) for (const { path, why } of skipped) io.print(safe(`  left out: ${path} ${why}`));
    }
    return 0;
  },
});
