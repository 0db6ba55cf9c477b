// When the tools that change files are available: not with a read-only workspace; apply_patch only if enabled.
import { agentConfig } from "../../config/agents.ts";
import type { Availability, ToolEnv } from "../tool.ts";

/** write, edit and apply_patch are unavailable when the sandbox mounts the workspace read-only. */
export function whenWritable({ config, agent, sandboxed }: ToolEnv): Availability {
  const access =
    agentConfig(config, agent)?.sandbox?.workspaceAccess ?? config.agents?.defaults?.sandbox?.workspaceAccess ?? "none";
  if (!sandboxed || access !== "ro") return { available: true };
  return {
    available: false,
    reason: "this session is sandboxed and its sandbox may only read the workspace (workspaceAccess is ro)",
    fix: `openclaw config set ${sandboxKey(config, agent)}.workspaceAccess rw`,
  };
}

const patchProviders: ReadonlySet<string> = new Set(["openai", "openai-codex"]);

export function whenPatchable(env: ToolEnv): Availability {
  const writable = whenWritable(env);
  if (!writable.available) return writable;
  const { config, agent } = env;
  const own = agentConfig(config, agent)?.tools?.exec?.applyPatch;
  const shared = config.tools?.exec?.applyPatch;
  if ((own?.enabled ?? shared?.enabled) !== true)
    return no("it is disabled", "openclaw config set tools.exec.applyPatch.enabled true");
  const model = modelOf(env)?.toLowerCase();
  const provider = model?.split("/")[0] ?? "";
  if (model === undefined) return no("it needs an OpenAI model, and no model is configured", chooseModel);
  if (!patchProviders.has(provider))
    return no(`only OpenAI and OpenAI Codex models support it, not ${model}`, chooseModel);
  const allowed = own?.allowModels ?? shared?.allowModels;
  const isListed = allowed?.some((entry) => isModel(entry.trim().toLowerCase(), model)) ?? true;
  if (isListed) return { available: true };
  return no(
    `${model} is not in tools.exec.applyPatch.allowModels`,
    `add "${model}" to tools.exec.applyPatch.allowModels`,
  );
}

const chooseModel = "openclaw config set agents.defaults.model.primary openai/gpt-5.2";

const no = (reason: string, fix: string): Availability => ({ available: false, reason, fix });

/** The model of the run; for a call without one, the model the agent would run with. */
function modelOf({ config, agent, model }: ToolEnv): string | undefined {
  return model ?? primaryOf(agentConfig(config, agent)?.model) ?? primaryOf(config.agents?.defaults?.model);
}

function primaryOf(choice: string | { readonly primary?: string } | undefined): string | undefined {
  return typeof choice === "string" ? choice : choice?.primary;
}

/** `gpt-5.2` or `openai/gpt-5.2`. */
function isModel(entry: string, model: string): boolean {
  return entry === model || entry === model.slice(model.indexOf("/") + 1);
}

function sandboxKey(config: ToolEnv["config"], agent: ToolEnv["agent"]): string {
  const at = (config.agents?.list ?? []).findIndex(
    ({ id, sandbox }) => id === agent && sandbox?.workspaceAccess === "ro",
  );
  return at === -1 ? "agents.defaults.sandbox" : `agents.list[${at}].sandbox`;
}
