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
    const bound = config.tools?.fs?.workspaceOnly === true;
    return [
      {
        level: "note",
        message: `off for ${off.join(", ")}: their tools act on this machine itself, with your rights`,
        ...(bound
          ? {}
          : { hint: "openclaw config set tools.fs.workspaceOnly true keeps file tools inside the workspace" }),
      },
    ];
  },
};
