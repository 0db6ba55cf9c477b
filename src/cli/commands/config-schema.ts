// `openclaw config schema`: prints the JSON Schema of the config, for editors.
import { writeFileAtomic } from "../../base/atomic-file.ts";
import { expandHome } from "../../base/paths.ts";
import { configJsonSchema } from "../../config/json-schema.ts";
import { defineCommand } from "../command.ts";
import { shortPath, toJson } from "../print.ts";

export const command = defineCommand({
  details: 'Set "$schema" in the config to this file, and editors complete and check the config.',
  options: {
    out: { type: "string", value: "file", description: "Write it to this file instead of stdout." },
  },
  examples: [
    { line: "config schema --out ~/.openclaw/openclaw.schema.json", does: "for an editor" },
    { line: "config schema", does: "to the screen" },
  ],
  async run(io, { options }) {
    const text = toJson(configJsonSchema());
    if (options.out === undefined) {
      io.print(text);
      return 0;
    }
    const file = expandHome(options.out, io.paths().home);
    writeFileAtomic(file, `${text}\n`, 0o644);
    io.print(io.json ? toJson({ ok: true, file }) : `wrote the schema to ${shortPath(file, io)}`);
    return 0;
  },
});
