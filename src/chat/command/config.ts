// /config: looks into the config, secrets hidden.
import { getAt, hasAt, parsePath } from "../../config/path.ts";
import { redactConfig } from "../../config/redact.ts";
import { fenced } from "../fence.ts";
import { answered, type Command } from "../scene.ts";

export const configCommand: Command = {
  name: "config",
  takes: "show [path] | get <path>",
  summary: "Look into the config",
  async answer(args, { config }) {
    if (config.commands?.config !== true) {
      return answered("/config is off. Turn it on with: openclaw config set commands.config true");
    }
    const [action = "show", path, ...more] = args
      .trim()
      .split(/\s+/)
      .filter((word) => word !== "");
    if (!["show", "get"].includes(action.toLowerCase()) || more.length > 0) {
      return answered(
        "Usage: /config show [path], /config get <path>. Change it with: openclaw config set <path> <value>",
      );
    }
    const shown = redactConfig(config);
    if (path === undefined) return answered(fenced(JSON.stringify(shown, null, 2), "json"));
    const at = parsePath(path);
    if (!hasAt(shown, at)) return answered(`Config path not found: ${path}`);
    return answered(fenced(JSON.stringify(getAt(shown, at), null, 2), "json"));
  },
};
