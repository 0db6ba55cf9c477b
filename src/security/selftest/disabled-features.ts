// Finds everyday use that the user has disabled on purpose: it is skipped and listed, and does not count as broken.
import { agentConfig } from "../../config/agents.ts";
import { readApprovals } from "../../exec/policy/file.ts";
import { subjectOf } from "../../tool/subject.ts";
import { isScript, type Call, type Control } from "./case.ts";
import { modelFor, type TestEnvironment } from "./environment.ts";

/** Why it was not tested; undefined when it must work. */
export function whyDisabled({ attempt }: Control, environment: TestEnvironment): string | undefined {
  if (isScript(attempt)) return undefined;
  const calls = Array.isArray(attempt) ? (attempt as readonly Call[]) : [attempt as Call];
  return calls.map(({ tool }) => reasonFor(tool, environment)).find((reason) => reason !== undefined);
}

function reasonFor(tool: string, environment: TestEnvironment): string | undefined {
  const { runtime, agent, host } = environment;
  const { config } = runtime.settings.now();
  const { decision, unavailable } = runtime.catalog.judge(
    subjectOf({ agentId: agent, model: modelFor(tool, config) }, config),
    tool,
  );
  if (!decision.allowed) return `everyday use of ${tool} was not tested: this config denies the tool`;
  if (unavailable !== undefined) return `everyday use of ${tool} was not tested: ${unavailable.reason}`;
  if (tool !== "exec") return undefined;
  if (host === "node") return "everyday commands were not tested: they run on a node, and none is connected here";
  return host === "gateway" && isDenied(environment)
    ? "everyday commands were not tested: security is deny"
    : undefined;
}

function isDenied({ runtime, agent }: TestEnvironment): boolean {
  const { config } = runtime.settings.now();
  const { agents, defaults } = readApprovals(runtime.paths.state).file;
  const levels = [
    agentConfig(config, agent)?.tools?.exec?.security ?? config.tools?.exec?.security,
    agents?.[agent]?.security ?? agents?.["*"]?.security ?? defaults?.security,
  ];
  return levels.includes("deny");
}
