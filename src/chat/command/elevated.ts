// /elevated: whether commands of a sandboxed session may run on the gateway's host.
import { levelDirective } from "../level.ts";
import { closedGates } from "../elevation.ts";

export const elevated = levelDirective({
  name: "elevated",
  aliases: ["elev"],
  summary: "Let exec leave the sandbox (full: without approvals)",
  title: "Elevated",
  levels: ["off", "on", "ask", "full"],
  synonyms: {},
  field: "elevatedLevel",
  once: "elevated",
  async current(scene) {
    const { elevatedLevel } = await scene.entry();
    const level = elevatedLevel ?? "not set for this session";
    const gates = await closedGates(scene);
    return gates.length === 0 ? level : `${level}; not available here (${gates.map(({ key }) => key).join(", ")})`;
  },
  async objection(level, scene) {
    if (level === "off") return undefined;
    const gates = await closedGates(scene);
    if (gates.length === 0) return undefined;
    const { sandboxed } = await scene.subject();
    return [
      `Elevated is not available here (${sandboxed ? "sandboxed" : "direct"}). Nothing was changed.`,
      ...gates.map(({ key, why }) => `- ${key}: ${why}`),
      `Look closer with: openclaw sandbox explain --session ${scene.context.sessionKey}`,
    ].join("\n");
  },
});
