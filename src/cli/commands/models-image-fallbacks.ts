// `openclaw models image-fallbacks`: the models asked about a picture when the image model fails.
import { defineCommand, UsageError } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { parseModelRef } from "../model-choice.ts";
import { toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

const actions: readonly string[] = ["list", "add", "remove", "clear"];
const path = ["models", "image-fallbacks"];
const key = ["agents", "defaults", "imageModel"];

export const command = defineCommand({
  arguments: [
    { name: "action", description: "list (the default), add, remove or clear.", optional: true },
    { name: "model", description: "As provider/model, for add and remove.", optional: true },
  ],
  examples: [
    { line: "models image-fallbacks add anthropic/claude-opus-4-6", does: "asks it when the image model fails" },
    { line: "models image-fallbacks list", does: "the models in order" },
  ],
  async run(io, { arguments: [action = "list", written] }) {
    if (!actions.includes(action))
      throw new UsageError(`the action must be one of ${actions.join(", ")}, not ${JSON.stringify(action)}`, path);
    if (action === "list") {
      const models = fallbacksOf((await requireConfig(io)).config.agents?.defaults?.imageModel);
      io.print(io.json ? toJson({ models }) : models.length === 0 ? "No fallbacks for pictures." : models.join("\n"));
      return 0;
    }
    const ref = action === "clear" ? undefined : namedModel(written, action);
    const change = editConfig(io, `${key.join(".")}.fallbacks`, ({ config }) => {
      const now = config.agents?.defaults?.imageModel;
      const rest = ref === undefined ? [] : fallbacksOf(now).filter((other) => other !== ref);
      const fallbacks = action === "add" && ref !== undefined ? [...rest, ref] : rest;
      return typeof now === "string"
        ? [{ path: key, value: { primary: now, fallbacks } }]
        : [{ path: [...key, "fallbacks"], value: fallbacks }];
    });
    const models = fallbacksOf(change.after.config.agents?.defaults?.imageModel);
    reportChange(
      io,
      change,
      models.length === 0 ? "No fallbacks for pictures" : `Fallbacks for pictures: ${models.join(", ")}`,
    );
    return 0;
  },
});

function namedModel(written: string | undefined, action: string): string {
  if (written === undefined)
    throw new UsageError(`models image-fallbacks ${action} needs a model as provider/model`, path);
  const { provider, id } = parseModelRef(written, path);
  return `${provider}/${id}`;
}

function fallbacksOf(choice: string | { readonly fallbacks?: readonly string[] } | undefined): readonly string[] {
  return typeof choice === "string" ? [] : (choice?.fallbacks ?? []);
}
