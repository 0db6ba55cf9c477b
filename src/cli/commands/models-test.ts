// `openclaw models test`: sends a model one small request to check that it answers.
import { OpenClawError } from "../../core/error.ts";
import { primaryOf } from "../agent-rows.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openModels, sayTest, type Models } from "../models-here.ts";
import { toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";
import { wireOptions } from "../target.ts";
import { parseModelRef } from "../model-choice.ts";

export const command = defineCommand({
  arguments: [{ name: "model", description: "As provider/model (default: the configured model).", optional: true }],
  options: { ...wireOptions },
  examples: [
    { line: "models test", does: "the default model" },
    { line: "models test openai/gpt-5.2 --json", does: "another model, as JSON" },
  ],
  exits: "0 the model answers, 1 it does not, 2 wrong usage",
  async run(io, { options, arguments: [written] }) {
    const models = await openModels(io, options);
    const ref = written ?? (await chosen(io, models));
    const { provider, id } = parseModelRef(ref, ["models", "test"]);
    const result = await models.test(provider, id);
    if (io.json) io.print(toJson({ provider, model: id, ...result }));
    else sayTest(io, ref, result);
    return result.ok ? 0 : 1;
  },
});

/** The model in the config, else the first one that was found. */
async function chosen(io: Io, models: Models): Promise<string> {
  const { config } = await requireConfig(io);
  const named = primaryOf(config.agents?.defaults?.model);
  if (named !== undefined && named.includes("/")) return named;
  const [first] = await models.scan();
  if (first !== undefined) return `${first.provider}/${first.id}`;
  throw new OpenClawError("model.none", "no model is configured, and no model was found", {
    hint: "openclaw configure --section model",
  });
}
