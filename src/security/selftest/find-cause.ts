// Finds the config key that opened a hole, and the command that closes it.
import { agentConfig } from "../../config/agents.ts";
import { formatPath } from "../../config/path.ts";
import { agentIndex, modeOf } from "../../exec/describe-route.ts";
import { setKey } from "../audit/finding.ts";
import { areaOf, isScript, type Attack, type Call } from "./case.ts";
import type { TestEnvironment } from "./environment.ts";

export interface Cause {
  /** The key and its value, for people. */
  readonly key: string;
  readonly fix: string;
}

/** Undefined when no key explains it: then it is a bug in the gateway. */
export function causeOf(attack: Attack, environment: TestEnvironment): Cause | undefined {
  const area = areaOf(attack);
  const tools = toolsOf(attack);
  const runs =
    area.startsWith("exec-") ||
    area === "approvals" ||
    area === "process" ||
    area === "sandbox" ||
    tools.includes("exec");
  if (runs) return commandCause(environment);
  return tools.some((tool) => fileTools.has(tool)) ? fileCause(environment) : undefined;
}

const fileTools: ReadonlySet<string> = new Set(["read", "write", "edit", "apply_patch"]);

function toolsOf({ attempt }: Attack): string[] {
  if (isScript(attempt)) return [];
  const calls = Array.isArray(attempt) ? (attempt as readonly Call[]) : [attempt as Call];
  return calls.map(({ tool }) => tool);
}

function commandCause({ runtime, agent, sandboxed }: TestEnvironment): Cause | undefined {
  const { config } = runtime.settings.now();
  const own = agentConfig(config, agent)?.tools?.exec;
  const host = own?.host ?? config.tools?.exec?.host ?? "sandbox";
  if (host === "sandbox" && sandboxed) return undefined;
  if (host === "sandbox") {
    const { value, setKey: path } = modeOf(config, agent);
    return { key: `${path} is ${value}, so commands run on this machine without asking`, fix: setKey(path, "all") };
  }
  if ((own?.security ?? config.tools?.exec?.security) !== "full")
    return { key: "an entry of exec-approvals.json or tools.exec.safeBins allows it", fix: "openclaw security audit" };
  const path =
    own?.security === undefined
      ? "tools.exec.security"
      : formatPath(["agents", "list", agentIndex(config, agent), "tools", "exec", "security"]);
  return { key: `${path} is full, so every command runs on the ${host}`, fix: setKey(path, "allowlist") };
}

function fileCause({ runtime, agent, sandboxed }: TestEnvironment): Cause | undefined {
  const { config } = runtime.settings.now();
  const own = agentConfig(config, agent)?.tools?.fs?.workspaceOnly;
  if (sandboxed || (own ?? config.tools?.fs?.workspaceOnly ?? false)) return undefined;
  const path =
    own === undefined
      ? "tools.fs.workspaceOnly"
      : formatPath(["agents", "list", agentIndex(config, agent), "tools", "fs", "workspaceOnly"]);
  return { key: `${path} is false, so file tools can access the whole disk`, fix: setKey(path, "true") };
}
