// /elevated: whether commands of a sandboxed session may run on the gateway's host.
import { levelDirective } from "../level.ts";
import { elevationIn } from "../elevation.ts";
import type { CommandRun } from "../command-run.ts";

export const elevated = levelDirective({
  name: "elevated",
  aliases: ["elev"],
  summary: "Let exec leave the sandbox (full: without approvals)",
  title: "Elevated",
  levels: ["off", "on", "ask", "full"],
  synonyms: {},
  field: "elevatedLevel",
  once: "elevated",
  async current(commandRun) {
    const { elevatedLevel } = await commandRun.entry();
    const shared = commandRun.config.agents?.defaults?.elevatedDefault;
    const level = elevatedLevel ?? (shared === undefined ? "not set for this session" : `${shared} (default)`);
    const { gates } = await elevationIn(commandRun);
    return gates.length === 0 ? level : `${level}; not available here (${gates.map(({ key }) => key).join(", ")})`;
  },
  async objection(level, commandRun) {
    if (level === "off") return undefined;
    // "full" allows everything, so it needs a sender who may answer approvals.
    if (commandRun.context.approver === undefined)
      return "Only a sender who may answer approvals can turn this on. Nothing was changed.";
    return closedText(commandRun);
  },
});

/** Why it is not available here, with every key that would have to change; undefined when it is. */
export async function closedText(commandRun: CommandRun): Promise<string | undefined> {
  const { gates } = await elevationIn(commandRun);
  if (gates.length === 0) return undefined;
  const { sandboxed } = await commandRun.subject();
  return [
    `Elevated is not available here (${sandboxed ? "sandboxed" : "direct"}). Nothing was changed.`,
    ...gates.map(({ key, why }) => `- ${key}: ${why}`),
    `Details: openclaw sandbox explain --session ${commandRun.context.sessionKey}`,
  ].join("\n");
}
