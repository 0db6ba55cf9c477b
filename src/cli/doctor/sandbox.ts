// Ruling 9: where nothing is sandboxed, say so plainly.
import { agentConfig, agentIds } from "../../config/agents.ts";
import { ok, type Check } from "./check.ts";

export const sandbox: Check = {
  name: "Sandbox",
  needsConfig: true,
  look({ loaded }) {
    const { config } = loaded;
    const everywhere = config.agents?.defaults?.sandbox?.mode ?? "off";
    const off = agentIds(config).filter((id) => (agentConfig(config, id)?.sandbox?.mode ?? everywhere) === "off");
    if (off.length === 0) return [ok("every agent has one")];
    return [
      {
        level: "note",
        message: `off for ${off.join(", ")}: commands with host=sandbox run on this machine, as you, without asking`,
        hint: "openclaw config set agents.defaults.sandbox.mode non-main (or all)",
      },
    ];
  },
};
