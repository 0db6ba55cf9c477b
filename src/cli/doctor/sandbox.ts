// Ruling 9: where nothing is sandboxed, or a sandbox cannot start, say so plainly.
import type { AgentId } from "../../core/names.ts";
import { agentIds } from "../../config/agents.ts";
import { modeOf, describeRoute } from "../../exec/describe-route.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Io } from "../io.ts";
import { ok, type Check, type Finding } from "./check.ts";

export const sandbox: Check = {
  name: "Sandbox",
  needsConfig: true,
  async look({ io, loaded }) {
    const ids = agentIds(loaded.config);
    const off = ids.filter((id) => modeOf(loaded.config, id).value === "off");
    const sandboxed = ids.filter((id) => !off.includes(id));
    const broken = sandboxed.length === 0 ? [] : await brokenFinding(io, loaded, sandboxed);
    const findings = [...broken, ...offFinding(loaded, off)];
    return findings.length === 0 ? [ok("every agent has one, and it starts here")] : findings;
  },
};

async function brokenFinding(io: Io, loaded: LoadedConfig, sandboxed: readonly AgentId[]): Promise<Finding[]> {
  const { sandboxProbe } = await import("../../exec/sandbox/probe.ts");
  const { works, reason = "no backend works", fix } = await sandboxProbe(loaded, io.paths(), sandboxed);
  if (works) return [];
  return [
    {
      level: "warn",
      message: `on for ${sandboxed.join(", ")}, but it cannot start here (${reason}): their commands are refused, none runs on the host instead`,
      ...(fix === undefined ? {} : { hint: fix }),
    },
  ];
}

function offFinding({ config }: LoadedConfig, off: readonly AgentId[]): Finding[] {
  const [first] = off;
  if (first === undefined) return [];
  const asksNobody = off.filter((id) => describeRoute(config, id, false).runs === "open");
  const commands =
    asksNobody.length === 0 ? "" : `; commands of ${asksNobody.join(", ")} run there without asking anybody`;
  return [
    {
      level: "note",
      message: `off for ${off.join(", ")}: their tools act on this machine itself, with your rights${commands}`,
      hint: `openclaw config set ${modeOf(config, first).setKey} all`,
    },
  ];
}
