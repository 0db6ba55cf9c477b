// Names in allow and deny lists that mean no tool: a rule that does nothing looks like safety.
import { coreTools } from "../../tool/policy/groups.ts";
import { listWarnings } from "../../tool/policy/warnings.ts";
import { shortPath } from "../print.ts";
import { ok, type Check, type Finding } from "./check.ts";

export const toolLists: Check = {
  name: "Tool lists",
  needsConfig: true,
  look({ io, loaded }) {
    const found = listWarnings(loaded.config, { core: coreTools, plugins: [] }).map(
      ({ path, message, level, nearest }): Finding => {
        const place = loaded.locate(path);
        const where = place === undefined ? "" : `${shortPath(place.file, io)}:${place.line}  `;
        return {
          level: level === "error" ? "fail" : "warn",
          message: `${where}${message}`,
          hint: nearest === undefined ? `openclaw config unset '${path}'` : `openclaw config set '${path}' ${nearest}`,
        };
      },
    );
    return found.length === 0 ? [ok("every name means something")] : found;
  },
};
