// `openclaw config validate`: lists every problem of the config, with file and line.
import { loadConfig } from "../../config/load.ts";
import { universeOf } from "../../tool/policy/universe.ts";
import { listWarnings } from "../../tool/policy/warnings.ts";
import { defineCommand } from "../command.ts";
import { shortPath, toJson } from "../print.ts";
import { describe } from "../settings.ts";

export const command = defineCommand({
  examples: [
    { line: "config validate", does: "check the file in use" },
    { line: "config validate --json", does: "issues and warnings as JSON, for editors and CI" },
  ],
  exits: "0 valid (warnings may be printed), 1 not valid, 2 wrong usage",
  async run(io) {
    const loaded = loadConfig({ paths: io.paths(), env: io.env });
    const lists = loaded.valid ? listWarnings(loaded.config, universeOf(loaded.config)) : [];
    const warnings = [
      ...loaded.warnings,
      ...lists.map(({ path, message }) => ({
        path,
        message: message.replace(`${path}: `, ""),
        ...loaded.locate(path),
      })),
    ];
    const { valid, issues, path, exists, files } = loaded;
    if (io.json) io.print(toJson({ valid, path, exists, files, issues, warnings }));
    else {
      for (const issue of issues) io.print(`${io.paint.bad("error")}    ${describe(issue, io)}`);
      for (const warning of warnings) io.print(`${io.paint.warn("warning")}  ${describe(warning, io)}`);
      io.print(verdict());
      if (!valid) io.say("fix: correct the lines above, or run: openclaw doctor --fix");
    }
    return valid ? 0 : 1;

    function verdict(): string {
      const place = shortPath(path, io);
      if (!exists) return `${place} does not exist; the defaults apply, and they are valid`;
      if (!valid) return `${place} is not valid: ${issues.length} ${issues.length === 1 ? "error" : "errors"}`;
      return `${place} is ${io.paint.good("valid")}${files.length > 1 ? ` (with ${files.length - 1} included files)` : ""}`;
    }
  },
});
