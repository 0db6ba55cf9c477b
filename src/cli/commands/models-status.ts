// `openclaw models status`: shows the model in use, its fallbacks, and which providers have a key.
import { agentIds, agentConfig } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { primaryOf } from "../agent-rows.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openModels, type ModelRow, type Models } from "../models-here.ts";
import { columns, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";
import { wireOptions } from "../target.ts";

interface Status {
  readonly model: string | null;
  /** From the config, or the first one that was found. */
  readonly chosenBy: "config" | "found" | "nothing";
  readonly fallbacks: readonly string[];
  readonly ready: boolean;
  readonly agents: Readonly<Record<string, string>>;
  readonly providers: readonly {
    readonly id: string;
    readonly ready: boolean;
    readonly models: number;
    readonly source: string;
  }[];
  readonly askedAt: Models["where"];
}

export const command = defineCommand({
  options: {
    check: { type: "boolean", description: "Exit 1 when no model can answer, for scripts." },
    ...wireOptions,
  },
  examples: [
    { line: "models", does: "a summary" },
    { line: "models status --check --json", does: "for scripts" },
  ],
  exits: "0 shown, 1 with --check when no model can answer, 2 wrong usage",
  async run(io, { options }) {
    const { check, ...wire } = options;
    const { config } = await requireConfig(io);
    const models = await openModels(io, wire);
    const status = statusOf(config, await models.list(), models.where);
    if (io.json) io.print(toJson(status));
    else io.print(linesOf(io, status).join("\n"));
    return check === true && !status.ready ? 1 : 0;
  },
});

function statusOf(config: Config, rows: readonly ModelRow[], askedAt: Models["where"]): Status {
  const choice = config.agents?.defaults?.model;
  const named = primaryOf(choice);
  const found = rows.find(({ ready }) => ready === true);
  const model = named ?? (found === undefined ? null : `${found.provider}/${found.id}`);
  const usable = rows.filter(({ ready }) => ready !== false);
  const providers = [...new Set(rows.map(({ provider }) => provider))];
  const fallbacks = typeof choice === "object" ? (choice.fallbacks ?? []) : [];
  const answers = [...(model === null ? [] : [model]), ...fallbacks];
  return {
    model,
    chosenBy: named !== undefined ? "config" : model === null ? "nothing" : "found",
    fallbacks,
    ready: usable.some(({ provider }) => answers.some((ref) => ref.startsWith(`${provider}/`))),
    agents: Object.fromEntries(
      agentIds(config).flatMap((id) => {
        const own = primaryOf(agentConfig(config, id)?.model);
        return own === undefined ? [] : [[id, own]];
      }),
    ),
    providers: providers.map((id) => {
      const own = rows.filter(({ provider }) => provider === id);
      const ready = own.some((row) => row.ready !== false);
      return { id, ready, models: own.length, source: own[0]?.source ?? "" };
    }),
    askedAt,
  };
}

function linesOf(io: Io, { model, chosenBy, fallbacks, ready, agents, providers, askedAt }: Status): string[] {
  const words = { config: "", found: " (found; not set in the config)", nothing: "" }[chosenBy];
  const withKey = providers
    .filter((provider) => provider.ready)
    .map(({ id, source }) => (source === "" ? id : `${id} (${source})`));
  const facts: (readonly [string, string])[] = [
    ["Model", model === null ? "No model configured" : `${model}${words}`],
    ...(fallbacks.length === 0 ? [] : [["Then", fallbacks.join(", ")] as const]),
    ...Object.entries(agents).map(([id, own]) => [`Agent ${id}`, own] as const),
    ["Ready", withKey.length === 0 ? "no provider has a key, and no model server was found" : withKey.join(", ")],
    ["Asked", askedAt === "gateway" ? "the running gateway" : "this config and environment; no gateway runs"],
  ];
  return [
    ...columns(facts, { width: io.width }),
    "",
    ready
      ? "test it: openclaw models test"
      : io.paint.warn("no model can answer yet; set one up with: openclaw configure --section model"),
  ];
}
