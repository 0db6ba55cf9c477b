// Whether agents are sandboxed and the sandbox starts here (docs/decisions/0009-sandbox-on-by-default.md).
import type { Paths } from "../../base/paths.ts";
import type { AgentId } from "../../core/names.ts";
import { agentIds } from "../../config/agents.ts";
import { modeOf, describeRoute } from "../../exec/describe-route.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { ok, type Check, type Finding } from "./check.ts";

export const sandbox: Check = {
  name: "Sandbox",
  needsConfig: true,
  async run({ paths, loaded }) {
    const ids = agentIds(loaded.config);
    const off = ids.filter((id) => modeOf(loaded.config, id).value === "off");
    const sandboxed = ids.filter((id) => !off.includes(id));
    const broken = sandboxed.length === 0 ? [] : await brokenFinding(paths, loaded, sandboxed);
    const findings = [...broken, ...offFinding(loaded, off)];
    return findings.length === 0 ? [ok("every agent is sandboxed, and the sandbox starts here")] : findings;
  },
};

async function brokenFinding(paths: Paths, loaded: LoadedConfig, sandboxed: readonly AgentId[]): Promise<Finding[]> {
  const { sandboxProbe } = await import("../../exec/sandbox/probe.ts");
  const { works, reason = "no backend works", fix } = await sandboxProbe(loaded, paths, sandboxed);
  if (works) return [];
  return [
    {
      level: "warn",
      message: `enabled for ${sandboxed.join(", ")}, but it cannot start here (${reason}): their commands are blocked and never run on the host instead`,
      ...(fix === undefined ? {} : { hint: fix }),
    },
  ];
}

function offFinding({ config }: LoadedConfig, off: readonly AgentId[]): Finding[] {
  const [first] = off;
  if (first === undefined) return [];
  const unasked = off.filter((id) => describeRoute(config, id, false).runs === "open");
  const commands = unasked.length === 0 ? "" : `; commands of ${unasked.join(", ")} run without approval`;
  return [
    {
      level: "note",
      message: `off for ${off.join(", ")}: their tools run directly on this machine with your permissions${commands}`,
      hint: `openclaw config set ${modeOf(config, first).setKey} all`,
    },
  ];
}
