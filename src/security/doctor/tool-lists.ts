// Names in allow and deny lists that match no tool, so that the rule has no effect.
import { universeOf } from "../../tool/policy/universe.ts";
import { listWarnings } from "../../tool/policy/warnings.ts";
import { ok, shortPath, type Check, type Finding } from "./check.ts";

export const toolLists: Check = {
  name: "Tool lists",
  needsConfig: true,
  run({ paths, loaded }) {
    const found = listWarnings(loaded.config, universeOf(loaded.config)).map(
      ({ path, message, level, nearest }): Finding => {
        const place = loaded.locate(path);
        const where = place === undefined ? "" : `${shortPath(place.file, { paths })}:${place.line}  `;
        return {
          level: level === "error" ? "fail" : "warn",
          message: `${where}${message}`,
          hint: nearest === undefined ? `openclaw config unset '${path}'` : `openclaw config set '${path}' ${nearest}`,
        };
      },
    );
    return found.length === 0 ? [ok("every name matches a tool")] : found;
  },
};
