// `openclaw models scan`: finds models that work without setup: API keys in the environment, servers on this machine.
import { defineCommand } from "../command.ts";
import { openModels, type ModelRow } from "../models-here.ts";
import { table, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  options: { ...wireOptions },
  examples: [
    { line: "models scan", does: "list the models found" },
    { line: "models scan --json", does: "as JSON" },
  ],
  exits: "0 at least one model was found, 1 no model was found, 2 wrong usage",
  async run(io, { options }) {
    const found = await (await openModels(io, options)).scan();
    if (io.json) io.print(toJson({ count: found.length, models: found }));
    else if (found.length === 0)
      io.print("No model found. Start a model server such as Ollama, or run: openclaw configure --section model");
    else
      io.print(
        [...table(found, shape, io), "", `use one: openclaw models set ${found[0]?.provider}/${found[0]?.id}`].join(
          "\n",
        ),
      );
    return found.length === 0 ? 1 : 0;
  },
});

const shape = [
  { title: "Model", text: ({ provider, id }: ModelRow) => `${provider}/${id}` },
  { title: "From", text: ({ source }: ModelRow) => source ?? "" },
];
