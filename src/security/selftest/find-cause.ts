// Which key of the user's own config opened a hole, and the command that closes it.
import { agentConfig } from "../../config/agents.ts";
import { formatPath } from "../../config/path.ts";
import { areaOf, isScript, type Attack, type Call } from "./case.ts";
import type { TestEnvironment } from "./environment.ts";

export interface Blame {
  /** The key and its value, as people read it. */
  readonly key: string;
  readonly fix: string;
}

/** Undefined when nothing in the config explains it: then it is a bug in the gateway. */
export function blameFor(attack: Attack, environment: TestEnvironment): Blame | undefined {
  const area = areaOf(attack);
  const tools = toolsOf(attack);
  const runs =
    area.startsWith("exec-") ||
    area === "approvals" ||
    area === "process" ||
    area === "sandbox" ||
    tools.includes("exec");
  if (runs) return commandBlame(environment);
  return tools.some((tool) => fileTools.has(tool)) ? fileBlame(environment) : undefined;
}

const fileTools: ReadonlySet<string> = new Set(["read", "write", "edit", "apply_patch"]);

function toolsOf({ attempt }: Attack): string[] {
  if (isScript(attempt)) return [];
  const calls = Array.isArray(attempt) ? (attempt as readonly Call[]) : [attempt as Call];
  return calls.map(({ tool }) => tool);
}

function commandBlame(environment: TestEnvironment): Blame | undefined {
  const config = environment.runtime.settings.now().config;
  const { agent } = environment;
  const own = agentConfig(config, agent);
  const index = config.agents?.list?.findIndex(({ id }) => id.trim().toLowerCase() === agent) ?? -1;
  const path = (key: "host" | "security"): string =>
    own?.tools?.exec?.[key] === undefined
      ? `tools.exec.${key}`
      : formatPath(["agents", "list", index, "tools", "exec", key]);
  const host = own?.tools?.exec?.host ?? config.tools?.exec?.host ?? "sandbox";
  const security = own?.tools?.exec?.security ?? config.tools?.exec?.security;
  if (host === "sandbox" && !environment.sandboxed) {
    const mode =
      own?.sandbox?.mode === undefined
        ? "agents.defaults.sandbox.mode"
        : formatPath(["agents", "list", index, "sandbox", "mode"]);
    return {
      key: `${mode} is ${own?.sandbox?.mode ?? config.agents?.defaults?.sandbox?.mode ?? "off"}, so commands run on this machine without asking`,
      fix: `openclaw config set ${quoted(mode)} all`,
    };
  }
  if (host !== "sandbox" && security === "full")
    return {
      key: `${path("security")} is full, so every command runs on the ${host}`,
      fix: `openclaw config set ${quoted(path("security"))} allowlist`,
    };
  if (host !== "sandbox")
    return { key: "an entry of exec-approvals.json or tools.exec.safeBins allows it", fix: "openclaw security audit" };
  return undefined;
}

function fileBlame({ runtime, agent, sandboxed }: TestEnvironment): Blame | undefined {
  const { config } = runtime.settings.now();
  const own = agentConfig(config, agent)?.tools?.fs?.workspaceOnly;
  if (sandboxed || (own ?? config.tools?.fs?.workspaceOnly ?? false)) return undefined;
  const index = config.agents?.list?.findIndex(({ id }) => id.trim().toLowerCase() === agent) ?? -1;
  const path =
    own === undefined
      ? "tools.fs.workspaceOnly"
      : formatPath(["agents", "list", index, "tools", "fs", "workspaceOnly"]);
  return {
    key: `${path} is false, so file tools reach the whole disk`,
    fix: `openclaw config set ${quoted(path)} true`,
  };
}

function quoted(path: string): string {
  return path.includes("[") ? `'${path}'` : path;
}
