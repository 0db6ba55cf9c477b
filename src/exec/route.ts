// Decides where a command runs and under which rules, from the call, the session, the config and the sender. Pure.
import { ToolError } from "../core/error.ts";
import type { AgentId } from "../core/names.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { asks, securities, stricter } from "./policy/agent-rules.ts";
import type { Elevation } from "./elevated.ts";

export const EXEC_HOST = ["sandbox", "gateway", "node"] as const;
/** In the order shown to people. */
export const EXEC_SECURITY = securities;
export const EXEC_ASK = asks.toReversed();
const levels = ["off", "on", "ask", "full"] as const;
const LEVEL = "elevated level";

export type ExecHost = (typeof EXEC_HOST)[number];
export type Security = (typeof EXEC_SECURITY)[number];
export type Ask = (typeof EXEC_ASK)[number];

/** Set by `/exec` and `/elevated` inside a message, for that message only. */
export interface ExecOnce {
  readonly host?: string | undefined;
  readonly security?: string | undefined;
  readonly ask?: string | undefined;
  readonly node?: string | undefined;
  readonly elevated?: string | undefined;
}

export interface RouteInput {
  /** From the call; written by the model. */
  readonly params: {
    readonly host?: string | undefined;
    readonly security?: string | undefined;
    readonly ask?: string | undefined;
    readonly node?: string | undefined;
    readonly elevated?: boolean | undefined;
  };
  /** From the session entry; written by an authorized sender. */
  readonly session: {
    readonly execHost?: string | undefined;
    readonly execSecurity?: string | undefined;
    readonly execAsk?: string | undefined;
    readonly execNode?: string | undefined;
    readonly elevatedLevel?: string | undefined;
  };
  readonly once?: ExecOnce | undefined;
  readonly config: Config;
  readonly agent: AgentId;
  readonly sandboxed: boolean;
  readonly elevation: Elevation;
  /** Used in error hints. */
  readonly sessionKey?: string | undefined;
}

export interface Route {
  readonly host: ExecHost;
  readonly runsIn: "sandbox" | "host" | "node";
  readonly security: Security;
  readonly ask: Ask;
  /** The node named by the call or the config. */
  readonly node?: string;
  /** The node that commands are bound to; a call can only name the same one. */
  readonly boundNode?: string;
  /** True when the approvals file and the approval broker decide. */
  readonly approvals: boolean;
  readonly elevated: "off" | "on" | "full";
  /** Shown before the result, one per line. */
  readonly warnings: readonly string[];
}

/** Throws ToolError `exec.bad-value`, `exec.host-mismatch`, `exec.denied`, `exec.elevated-unavailable`. */
export function routeExec(input: RouteInput): Route {
  const { params, config, agent, once, session, sandboxed } = input;
  const settings = routeOfSession(config, agent, session, once);
  const configured = {
    host: settings.host.value,
    security: settings.security.from === "default" ? undefined : settings.security.value,
    ask: settings.ask.value,
    node: settings.node.value,
  };
  const asked = {
    host: parseFirst("host", EXEC_HOST, params.host),
    security: parseFirst("security", EXEC_SECURITY, params.security),
    ask: parseFirst("ask", EXEC_ASK, params.ask),
  };
  const { elevated, warnings } = elevatedLevel(input);
  checkHost(asked.host, configured.host, elevated, input);
  const host = elevated === "off" ? configured.host : "gateway";
  const full = elevated === "full";
  const security = stricter(
    full ? "full" : (configured.security ?? (host === "sandbox" ? "deny" : "allowlist")),
    asked.security,
    securities,
  );
  const ask = stricter(full ? "off" : configured.ask, asked.ask, asks);
  if (host !== "sandbox" && security === "deny") throw denied(host);
  const node = params.node?.trim() || configured.node;
  return {
    host,
    runsIn: host === "node" ? "node" : host === "sandbox" && sandboxed ? "sandbox" : "host",
    security,
    ask,
    ...(host !== "node" || node === undefined ? {} : { node }),
    ...(host !== "node" || configured.node === undefined ? {} : { boundNode: configured.node }),
    approvals: host !== "sandbox" && !(full && security === "full" && ask === "off"),
    elevated,
    warnings: [...warnings, ...ignoredParams(params, host)],
  };
}

/** A value and where it was set. */
export interface Setting<Value> {
  readonly value: Value;
  readonly from: "message" | "session" | "agent" | "config" | "default";
}

export interface RouteSettings {
  readonly host: Setting<ExecHost>;
  readonly security: Setting<Security>;
  readonly ask: Setting<Ask>;
  readonly node: Setting<string | undefined>;
}

/** The settings for a call without options. Throws `exec.bad-value` for an unknown value. */
export function routeOfSession(
  config: Config,
  agent: AgentId,
  session: RouteInput["session"],
  once: ExecOnce = {},
): RouteSettings {
  const shared = config.tools?.exec;
  const own = agentConfig(config, agent)?.tools?.exec;
  const pick = (key: "host" | "security" | "ask" | "node", kept: string | undefined): Setting<string | undefined> => {
    const candidates = [
      { value: once[key], from: "message" },
      { value: kept, from: "session" },
      { value: own?.[key], from: "agent" },
      { value: shared?.[key], from: "config" },
    ] as const;
    return candidates.find(({ value }) => value !== undefined && value !== "") ?? { value: undefined, from: "default" };
  };
  const host = pick("host", session.execHost);
  const hostValue = parseFirst("host", EXEC_HOST, host.value) ?? "sandbox";
  const security = pick("security", session.execSecurity);
  const ask = pick("ask", session.execAsk);
  const usual = hostValue === "sandbox" ? "deny" : "allowlist";
  return {
    host: { ...host, value: hostValue },
    security: { ...security, value: parseFirst("security", EXEC_SECURITY, security.value) ?? usual },
    ask: { ...ask, value: parseFirst("ask", EXEC_ASK, ask.value) ?? "on-miss" },
    node: pick("node", session.execNode),
  };
}

/** Parses the first value that is set. An unknown value is rejected wherever it was set. */
function parseFirst<const Values extends readonly string[]>(
  name: string,
  known: Values,
  ...given: readonly (string | undefined)[]
): Values[number] | undefined {
  const value = given.find((candidate) => candidate !== undefined);
  if (value === undefined) return undefined;
  const word = value.trim().toLowerCase();
  const found = known.find((candidate) => candidate === word);
  if (found !== undefined) return found;
  throw new ToolError("exec.bad-value", `invalid ${name} "${value.slice(0, 60)}": use ${known.join(", ")}`, {
    hint: name === LEVEL ? "/elevated off" : `/exec ${name}=${known[0]}`,
    details: { refused: true },
  });
}

interface Level {
  readonly elevated: Route["elevated"];
  readonly warnings: readonly string[];
}

/**
 * Applies only to sandboxed sessions. The session's level applies to every call; a call can stay inside or request
 * elevation.
 */
function elevatedLevel({ params, once, session, config, sandboxed, elevation, sessionKey }: RouteInput): Level {
  const level = parseFirst(LEVEL, levels, once?.elevated, session.elevatedLevel, defaultLevel(config));
  const off: Level = { elevated: "off", warnings: [] };
  if (!sandboxed) return params.elevated === true ? { ...off, warnings: [IGNORED] } : off;
  if (params.elevated === false || (params.elevated === undefined && (level === undefined || level === "off")))
    return off;
  if (params.elevated === true && level === "off") throw turnedOff(once, session, sessionKey);
  if (elevation.open) return { elevated: level === "full" ? "full" : "on", warnings: [] };
  if (params.elevated === true) throw unavailable(elevation, sessionKey);
  // An authorized sender set the level, but this sender is not authorized, so the command stays in the sandbox.
  const keys = elevation.gates.map(({ key }) => key).join(", ");
  return {
    ...off,
    warnings: [
      `Elevated is ${level ?? "on"} in this session, but this sender may not use it (${keys}): the command ran in the sandbox.`,
    ],
  };
}

const IGNORED = "elevated was ignored: this session is not sandboxed, so commands already run on the host.";

const defaultLevel = (config: Config): string | undefined => config.agents?.defaults?.elevatedDefault;

function turnedOff(
  once: ExecOnce | undefined,
  session: RouteInput["session"],
  sessionKey: string | undefined,
): ToolError {
  const isSession = once?.elevated !== undefined || session.elevatedLevel !== undefined;
  return new ToolError(
    "exec.elevated-unavailable",
    isSession
      ? "elevated is turned off for this session (runtime: sandboxed)"
      : "elevated is turned off by agents.defaults.elevatedDefault (runtime: sandboxed)",
    {
      hint: isSession ? "an authorized sender can write: /elevated on" : "agents.defaults.elevatedDefault",
      details: { refused: true, runtime: "sandboxed", gates: [], ...(sessionKey === undefined ? {} : { sessionKey }) },
    },
  );
}

function unavailable({ gates, channel }: Elevation, sessionKey: string | undefined): ToolError {
  const closed = gates.map(({ key, why }) => `- ${key}: ${why}`);
  const where = sessionKey === undefined ? channel : `${channel}, session ${sessionKey}`;
  const text = [
    `elevated is not available here (runtime: sandboxed; ${where}). Blocked by:`,
    ...closed,
    `Controlled by: tools.elevated.enabled, tools.elevated.allowFrom.${channel}, agents.list[].tools.elevated.enabled, agents.list[].tools.elevated.allowFrom.${channel}.`,
  ].join("\n");
  return new ToolError("exec.elevated-unavailable", text, {
    hint: `openclaw sandbox explain${sessionKey === undefined ? "" : ` --session ${sessionKey}`}`,
    details: {
      refused: true,
      runtime: "sandboxed",
      channel,
      gates,
      ...(sessionKey === undefined ? {} : { sessionKey }),
    },
  });
}

/** A call can name the host it would get anyway, or the gateway when elevated. */
function checkHost(
  asked: ExecHost | undefined,
  configured: ExecHost,
  elevated: Route["elevated"],
  input: RouteInput,
): void {
  if (asked === undefined || asked === configured || (elevated !== "off" && asked === "gateway")) return;
  const own = agentConfig(input.config, input.agent)?.tools?.exec?.host;
  const bySession = input.once?.host !== undefined || input.session.execHost !== undefined;
  const key = bySession ? "/exec host" : own === undefined ? "tools.exec.host" : "agents.list[].tools.exec.host";
  throw new ToolError(
    "exec.host-mismatch",
    `host=${asked} is not allowed in this session (${key}=${configured}): its commands run ${describeHost(configured, input.sandboxed)}`,
    {
      hint: `omit host; an authorized sender can change it with /exec host=${asked}`,
      details: { refused: true, requested: asked, configured, key },
    },
  );
}

/** `sandbox` is a preference: without a sandbox, commands run on the host. */
function describeHost(host: ExecHost, sandboxed: boolean): string {
  if (host === "node") return "on a paired node";
  if (host === "gateway") return "on the gateway host, under approvals";
  return sandboxed ? "in the sandbox" : "on the gateway host, because this session is not sandboxed";
}

function denied(host: ExecHost): ToolError {
  return new ToolError("exec.denied", `commands on host=${host} are denied (security=deny)`, {
    hint: "openclaw config set tools.exec.security allowlist, or /exec security=allowlist for this session",
    details: { refused: true, host, security: "deny" },
  });
}

/** Warnings about options that have no effect on this host. */
function ignoredParams({ security, ask, node }: RouteInput["params"], host: ExecHost): string[] {
  const rules = host === "sandbox" && (security !== undefined || ask !== undefined);
  return [
    ...(rules ? ["security and ask were ignored: they apply only to host=gateway and host=node."] : []),
    ...(node !== undefined && host !== "node" ? [`node was ignored: the command runs on host=${host}.`] : []),
  ];
}
