// `openclaw models list`: lists the known models, and which of them can be used now.
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openModels, type ModelRow } from "../models-here.ts";
import { table, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  details: "Asks the running gateway; without a gateway, uses the config and environment of this command.",
  options: {
    all: { type: "boolean", description: "Also list models without a key." },
    provider: { type: "string", value: "id", description: "Only models of this provider." },
    plain: { type: "boolean", description: "Only the names, one per line." },
    ...wireOptions,
  },
  examples: [
    { line: "models list", does: "models that can be used now" },
    { line: "models list --all --provider anthropic", does: "all known models of one provider" },
    { line: "models list --plain | sort", does: "names for other programs" },
  ],
  async run(io, { options }) {
    const { all, plain, provider, ...wire } = options;
    const known = (await (await openModels(io, wire)).list()).filter(
      (row) => provider === undefined || row.provider === provider,
    );
    const rows = all === true ? known : known.filter(({ ready }) => ready !== false);
    if (io.json) io.print(toJson({ count: rows.length, models: rows }));
    else if (plain === true) for (const row of rows) io.print(refOf(row));
    else io.print(linesOf(io, rows, known.length).join("\n"));
    return 0;
  },
});

function linesOf(io: Io, rows: readonly ModelRow[], known: number): string[] {
  const more =
    known > rows.length ? `${known - rows.length} more have no key yet: openclaw models list --all` : undefined;
  if (rows.length === 0)
    return [
      "No model can be used yet. Set one up: openclaw configure --section model",
      ...(more === undefined ? [] : [more]),
    ];
  return [...table(rows, shape(io), io), ...(more === undefined ? [] : ["", more])];
}

function shape({ paint }: Io) {
  return [
    { title: "Model", text: refOf },
    {
      title: "Context",
      text: ({ contextWindow }: ModelRow) =>
        contextWindow === undefined ? "" : `${Math.round(contextWindow / 1000)}k`,
    },
    { title: "Takes", text: ({ input }: ModelRow) => (input ?? []).join(", ") },
    { title: "Thinks", text: ({ reasoning }: ModelRow) => (reasoning === true ? "yes" : "") },
    {
      title: "Ready",
      text: ({ ready }: ModelRow) => (ready === false ? "no key" : "yes"),
      paint: (cell: string, { ready }: ModelRow) => (ready === false ? paint.warn(cell) : paint.good(cell)),
    },
    { title: "From", text: ({ source }: ModelRow) => source ?? "" },
  ];
}

function refOf({ provider, id }: ModelRow): string {
  return `${provider}/${id}`;
}
