// /config: shows the config without secrets and changes single keys of the file.
import { getAt, hasAt, parsePath } from "../../config/path.ts";
import { redactConfig } from "../../config/redact.ts";
import type { Directed } from "../../agent/direct.ts";
import { fenced } from "../fence.ts";
import { adminIn, requireAdmin, settingWords } from "../owner.ts";
import { answered, type Command, type CommandRun } from "../command-run.ts";

const usage = "Usage: /config show [path], /config get <path>, /config set <path> <value>, /config unset <path>";

export const configCommand: Command = {
  name: "config",
  takes: "show [path] | get <path> | set <path> <value> | unset <path>",
  summary: "Show or change the config",
  async answer(args, commandRun) {
    if (commandRun.config.commands?.config !== true) {
      return answered("/config is off. Turn it on with: openclaw config set commands.config true");
    }
    requireAdmin(commandRun, "config");
    const [action, path, rest] = settingWords(args);
    if (action === "" || action === "show" || action === "get")
      return rest === "" && (action !== "get" || path !== "") ? shown(path, commandRun) : answered(usage);
    if (action === "set" && path !== "" && rest !== "")
      return answered((await adminIn(commandRun, "config").edit(path, { text: rest })).text);
    if (action === "unset" && path !== "" && rest === "")
      return answered((await adminIn(commandRun, "config").edit(path, { remove: true })).text);
    return answered(`${usage}. Nothing was changed.`);
  },
};

function shown(path: string, { config }: CommandRun): Directed {
  const all = redactConfig(config);
  if (path === "") return answered(fenced(JSON.stringify(all, null, 2), "json"));
  const at = parsePath(path);
  if (!hasAt(all, at)) return answered(`Config path not found: ${path}`);
  return answered(fenced(JSON.stringify(getAt(all, at), null, 2), "json"));
}
