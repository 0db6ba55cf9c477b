// /debug: overrides settings until the gateway restarts; the file stays unchanged.
import { redactConfig } from "../../config/redact.ts";
import { parsePath, setAt, getAt } from "../../config/path.ts";
import type { Override } from "../../tool/admin.ts";
import { fenced } from "../fence.ts";
import { adminIn, settingWords } from "../owner.ts";
import { answered, type Command } from "../command-run.ts";

const usage = "Usage: /debug show, /debug set <path> <value>, /debug unset <path>, /debug reset";

export const debug: Command = {
  name: "debug",
  takes: "show | set <path> <value> | unset <path> | reset",
  summary: "Override settings until the next restart",
  async answer(args, commandRun) {
    if (commandRun.config.commands?.debug !== true) {
      return answered("/debug is off. Turn it on with: openclaw config set commands.debug true");
    }
    const { overrides } = adminIn(commandRun, "debug");
    const [action, path, rest] = settingWords(args);
    if ((action === "" || action === "show") && path === "") return answered(shown(overrides.list()));
    if (action === "set" && path !== "" && rest !== "") return answered((await overrides.set(path, rest)).text);
    if (action === "unset" && path !== "" && rest === "") return answered((await overrides.unset(path)).text);
    if (action === "reset" && path === "") return answered((await overrides.reset()).text);
    return answered(`${usage}. Nothing was changed.`);
  },
};

function shown(overrides: readonly Override[]): string {
  if (overrides.length === 0) return `Nothing is overridden. ${usage}`;
  return `Overridden until the gateway restarts:\n${fenced(overrides.map(line).join("\n"))}`;
}

/** A secret stays hidden here too. */
function line({ path, value, removed }: Override): string {
  if (removed === true) return `${path} (unset)`;
  const at = parsePath(path);
  return `${path} = ${JSON.stringify(getAt(redactConfig(setAt({}, at, value)), at))}`;
}
