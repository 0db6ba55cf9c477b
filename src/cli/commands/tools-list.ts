// `openclaw tools list`: lists the tools an agent may use, from the config; needs no gateway.
import { createReadingCatalog } from "../../app/catalog.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { CatalogRow } from "../../tool/catalog.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { oneLine, table, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";
import { modelOption, subjectRequest, whereOptions, whoOptions } from "../subject-options.ts";

export const command = defineCommand({
  details: "Reads the config; no gateway is needed. The same rules apply to every caller.",
  options: {
    all: { type: "boolean", description: "Also list blocked and unavailable tools, with the reason." },
    ...whoOptions,
    ...modelOption,
    ...whereOptions,
  },
  examples: [
    { line: "tools list", does: "for the default agent" },
    {
      line: "tools list --agent support --model openai/gpt-5.2 --all",
      does: "every tool with the decision for that agent and model",
    },
    { line: "tools list --json", does: "with schemas and decisions" },
  ],
  async run(io, { options }) {
    const loaded = await requireConfig(io);
    const subject = subjectOf(subjectRequest(options), loaded.config);
    const rows = createReadingCatalog(io.paths(), io.env, loaded).rows(subject);
    const usable = rows.filter(({ allowed, available }) => allowed && available);
    const shown = options.all === true ? rows : usable;
    if (io.json)
      io.print(
        toJson({
          agentId: subject.agent,
          sessionKey: subject.session,
          ...(subject.model === undefined ? {} : { model: subject.model }),
          tools: shown,
        }),
      );
    else io.print(linesOf(io, shown, usable.length, rows.length, subject.agent).join("\n"));
    return 0;
  },
});

function linesOf(io: Io, shown: readonly CatalogRow[], usable: number, all: number, agent: string): string[] {
  const count = `agent ${agent} may use ${usable} of ${all} tools${shown.length === all ? "" : "; all of them with --all"}. Why: openclaw tools explain <tool>`;
  return shown.length === 0 ? [count] : [...table(shown, shape(io), io), "", count];
}

function shape({ paint }: Io) {
  return [
    { title: "Tool", text: ({ name }: CatalogRow) => name },
    { title: "Group", text: ({ group }: CatalogRow) => group ?? "" },
    {
      title: "Answer",
      text: ({ allowed, available }: CatalogRow) => (!allowed ? "blocked" : available ? "allowed" : "not available"),
      paint: (cell: string, { allowed, available }: CatalogRow) =>
        allowed && available ? paint.good(cell) : allowed ? paint.warn(cell) : paint.bad(cell),
    },
    { title: "What it does, or why not", text: (row: CatalogRow) => oneLine(noteOf(row)) },
  ];
}

function noteOf({ allowed, decision, unavailable, summary }: CatalogRow): string {
  if (!allowed) return decision.decidedBy?.reason ?? "no rule allows it";
  return unavailable?.reason ?? summary;
}
