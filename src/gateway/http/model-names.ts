// Resolves the model name of a request to the OpenAI-compatible endpoints.
import { OpenClawError } from "../../core/error.ts";
import type { Config } from "../../config/schema/index.ts";
import { isModelAllowed, nameOf, parseModelRef } from "../../model/catalog.ts";
import type { ModelBook, ModelRef } from "../../model/model.ts";

/** Models with a credential that the config allows to choose. */
export async function usableModels(config: Config, models: ModelBook): Promise<ModelRef[]> {
  const all = await models.list();
  return all
    .filter((model) => model.ready && isModelAllowed(config, model))
    .map(({ provider, id }) => ({ provider, id }));
}

/** By its full name or alias, or by its bare id where only one provider has it. */
export async function modelNamed(name: string, config: Config, models: ModelBook): Promise<ModelRef> {
  const usable = await usableModels(config, models);
  const ref = parseModelRef(name, config);
  const wanted = ref === undefined ? "" : nameOf(ref).toLowerCase();
  const full = usable.find((model) => nameOf(model).toLowerCase() === wanted);
  const bare = usable.filter(({ id }) => id === name);
  const found = full ?? (bare.length === 1 ? bare[0] : undefined);
  if (found === undefined) throw unknownModel(name);
  return found;
}

export function unknownModel(name: string): OpenClawError {
  return new OpenClawError("model.unknown", `the model "${name.slice(0, 100)}" does not exist or may not be used`, {
    hint: 'GET /v1/models lists them; "openclaw" is the default agent with its own model',
    details: { param: "model", code: "model_not_found" },
  });
}
