// Describes where a command would run and under which rules, with the config keys, for the decision record. Pure.
import type { AgentId } from "../core/names.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { routeOfSession, type RouteSettings, type Setting } from "./route.ts";

export interface RouteDescription {
  /** `open` is the gateway host without approvals, because there is no sandbox. */
  readonly runs: "sandbox" | "open" | "gateway" | "node";
  readonly summary: string;
  /** One rule per line, each with its key. */
  readonly rules: readonly string[];
  /** What the owner should know first, and the command that changes it. */
  readonly caution?: { readonly text: string; readonly fix: string };
}

/**
 * For a call without options in a session without `/exec` settings. Unknown values were rejected when the config was
 * loaded.
 */
export function describeRoute(config: Config, agent: AgentId, sandboxed: boolean): RouteDescription {
  const settings = routeOfSession(config, agent, {});
  const { host } = settings;
  const keyOf = keysOf(config, agent);
  const mode = modeOf(config, agent);
  const hostRule = `host=${host.value} (${from(keyOf("host"), host)})`;
  if (host.value !== "sandbox") return underApprovals(settings, hostRule, keyOf);
  if (sandboxed)
    return {
      runs: "sandbox",
      summary: `in the sandbox (backend ${backendOf(config, agent)}), without approvals`,
      rules: [
        hostRule,
        `sandbox mode ${mode.value} (${mode.key})`,
        "security and ask do not apply in the sandbox",
        sessionRule,
      ],
    };
  const why = mode.value === "non-main" ? "this is the main session" : "the sandbox is off";
  return {
    runs: "open",
    summary: `on the gateway host itself, without approvals, because ${why}`,
    rules: [
      hostRule,
      `sandbox mode ${mode.value} (${mode.key})`,
      "security and ask do not apply to host=sandbox",
      sessionRule,
    ],
    caution: {
      text: `Commands of agent ${agent} run on the gateway host with the gateway's rights and without approval, because ${why}.`,
      fix: `openclaw config set ${mode.setKey} all`,
    },
  };
}

/** The sandbox mode of an agent, where it is set, and the key that would change it. */
export function modeOf(config: Config, agent: AgentId): { value: string; key: string; setKey: string } {
  const index = agentIndex(config, agent);
  const own = agentConfig(config, agent)?.sandbox?.mode;
  if (own !== undefined) {
    const key = `agents.list[${index}].sandbox.mode`;
    return { value: own, key, setKey: key };
  }
  const setKey = "agents.defaults.sandbox.mode";
  const shared = config.agents?.defaults?.sandbox?.mode;
  return { value: shared ?? "off", key: shared === undefined ? `${setKey}, not set` : setKey, setKey };
}

function underApprovals(
  { host, security, ask, node }: RouteSettings,
  hostRule: string,
  keyOf: (key: RouteKey) => string,
): RouteDescription {
  const onNode = host.value === "node";
  const named = node.value === undefined ? "the only node connected" : `node ${node.value}`;
  const isOpen = security.value === "full" && ask.value === "off";
  const rules = [
    hostRule,
    ...(onNode ? [`${named} (${from(keyOf("node"), node)})`] : []),
    `security=${security.value} (${from(keyOf("security"), security)}): ${securityWords[security.value]}`,
    `ask=${ask.value} (${from(keyOf("ask"), ask)}): ${askWords[ask.value]}`,
    `exec-approvals.json of ${onNode ? "the gateway and of the node" : "the gateway host"} can be stricter, never looser`,
    sessionRule,
  ];
  const place = onNode ? `on ${named}` : "on the gateway host";
  const judged =
    security.value === "deny"
      ? "every command is denied"
      : isOpen
        ? "under approvals that allow everything"
        : "under approvals";
  return {
    runs: onNode ? "node" : "gateway",
    summary: security.value === "deny" ? `nowhere: ${judged}` : `${place}, ${judged}`,
    rules,
    ...(isOpen
      ? {
          caution: {
            text: `Any command runs ${place} without approval, unless exec-approvals.json there is stricter.`,
            fix: `openclaw config set ${keyOf("ask")} on-miss`,
          },
        }
      : {}),
  };
}

const sessionRule = "an authorized sender can set host, security, ask and node for one session with /exec";

const securityWords = {
  deny: "no command runs",
  allowlist: "listed programs and safe bins only",
  full: "any command",
} as const;

const askWords = {
  off: "never asks; a command that is not allowed is denied",
  "on-miss": "asks the owner about programs that are not listed",
  always: "asks the owner every time",
} as const;

type RouteKey = keyof RouteSettings;

function keysOf(config: Config, agent: AgentId): (key: RouteKey) => string {
  const own = agentConfig(config, agent)?.tools?.exec;
  const index = agentIndex(config, agent);
  return (key) => (own?.[key] === undefined ? `tools.exec.${key}` : `agents.list[${index}].tools.exec.${key}`);
}

/** The position in `agents.list`; -1 for an agent that is not listed. */
export function agentIndex(config: Config, agent: AgentId): number {
  const entry = agentConfig(config, agent);
  return (config.agents?.list ?? []).findIndex((one) => one === entry);
}

const from = (key: string, setting: Setting<unknown>): string => (setting.from === "default" ? `${key}, not set` : key);

function backendOf(config: Config, agent: AgentId): string {
  return agentConfig(config, agent)?.sandbox?.backend ?? config.agents?.defaults?.sandbox?.backend ?? "auto";
}
