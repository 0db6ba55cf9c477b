// Where a command runs and under which rules: from the call, the session, the config and who asked. Pure.
import { ToolError } from "../core/error.ts";
import type { AgentId } from "../core/names.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { asks, securities, stricter } from "./policy/agent-rules.ts";
import type { Elevation } from "./elevated.ts";

export const EXEC_HOST = ["sandbox", "gateway", "node"] as const;
/** In the order people are shown them. */
export const EXEC_SECURITY = securities;
export const EXEC_ASK = asks.toReversed();
const levels = ["off", "on", "ask", "full"] as const;
const LEVEL = "elevated level";

export type ExecHost = (typeof EXEC_HOST)[number];
export type Security = (typeof EXEC_SECURITY)[number];
export type Ask = (typeof EXEC_ASK)[number];

/** What `/exec` and `/elevated` inside a message say, for that message only. */
export interface ExecOnce {
  readonly host?: string | undefined;
  readonly security?: string | undefined;
  readonly ask?: string | undefined;
  readonly node?: string | undefined;
  readonly elevated?: string | undefined;
}

export interface RouteInput {
  /** Of the call: the model wrote them. */
  readonly params: {
    readonly host?: string | undefined;
    readonly security?: string | undefined;
    readonly ask?: string | undefined;
    readonly node?: string | undefined;
    readonly elevated?: boolean | undefined;
  };
  /** Of the session's entry: an authorised sender wrote them. */
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
  /** For the hint of an error. */
  readonly sessionKey?: string | undefined;
}

export interface Route {
  readonly host: ExecHost;
  readonly runsIn: "sandbox" | "host" | "node";
  readonly security: Security;
  readonly ask: Ask;
  /** The node the call or the binding names. */
  readonly node?: string;
  /** The node commands are bound to; a call must mean the same one. */
  readonly boundNode?: string;
  /** Whether the approvals file and the desk have a say. */
  readonly approvals: boolean;
  readonly elevated: "off" | "on" | "full";
  /** Put in front of the result, one a line. */
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

/** A value in force, and who said so. */
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

/** What a call that asks for nothing would get. Throws `exec.bad-value` for a word nobody knows. */
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

/** The first that is set; a word nobody knows is refused wherever it stands. */
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
  throw new ToolError("exec.bad-value", `"${value.slice(0, 60)}" is no ${name}: use ${known.join(", ")}`, {
    hint: name === LEVEL ? "/elevated off" : `/exec ${name}=${known[0]}`,
    details: { refused: true },
  });
}

interface Level {
  readonly elevated: Route["elevated"];
  readonly warnings: readonly string[];
}

/** Only a sandbox can be left. A level of the session holds for every call; a call may stay inside, or ask to get out. */
function elevatedLevel({ params, once, session, config, sandboxed, elevation, sessionKey }: RouteInput): Level {
  const level = parseFirst(LEVEL, levels, once?.elevated, session.elevatedLevel, defaultLevel(config));
  const off: Level = { elevated: "off", warnings: [] };
  if (!sandboxed) return params.elevated === true ? { ...off, warnings: [IGNORED] } : off;
  if (params.elevated === false || (params.elevated === undefined && (level === undefined || level === "off")))
    return off;
  if (params.elevated === true && level === "off") throw turnedOff(once, session, sessionKey);
  if (elevation.open) return { elevated: level === "full" ? "full" : "on", warnings: [] };
  if (params.elevated === true) throw unavailable(elevation, sessionKey);
  // The level was set by somebody who may; this message is from somebody who may not, so it stays inside.
  const keys = elevation.gates.map(({ key }) => key).join(", ");
  return {
    ...off,
    warnings: [`Elevated is ${level ?? "on"} here but closed for this sender (${keys}): ran in the sandbox.`],
  };
}

const IGNORED = "elevated was ignored: this session is not sandboxed, commands run on the host already.";

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
      hint: isSession ? "an authorised sender can write: /elevated on" : "agents.defaults.elevatedDefault",
      details: { refused: true, runtime: "sandboxed", gates: [], ...(sessionKey === undefined ? {} : { sessionKey }) },
    },
  );
}

function unavailable({ gates, channel }: Elevation, sessionKey: string | undefined): ToolError {
  const closed = gates.map(({ key, why }) => `- ${key}: ${why}`);
  const where = sessionKey === undefined ? channel : `${channel}, session ${sessionKey}`;
  const text = [
    `elevated is not available here (runtime: sandboxed; ${where}). Closed:`,
    ...closed,
    `What decides: tools.elevated.enabled, tools.elevated.allowFrom.${channel}, agents.list[].tools.elevated.enabled, agents.list[].tools.elevated.allowFrom.${channel}.`,
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

/** A call may name the host it would get anyway. Elevated has its own: the gateway. */
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
    `host=${asked} is not what this session uses (${key}=${configured}): its commands run ${describeHost(configured, input.sandboxed)}`,
    {
      hint: `leave out host; an authorized sender can change it with /exec host=${asked}`,
      details: { refused: true, requested: asked, configured, key },
    },
  );
}

/** `sandbox` names a wish: without one, commands run on the host. */
function describeHost(host: ExecHost, sandboxed: boolean): string {
  if (host === "node") return "on a paired node";
  if (host === "gateway") return "on the gateway host, under approvals";
  return sandboxed ? "in the sandbox" : "on the gateway host itself, because this session is not sandboxed";
}

function denied(host: ExecHost): ToolError {
  return new ToolError("exec.denied", `commands on host=${host} are denied (security=deny)`, {
    hint: "tools.exec.security, or /exec security=allowlist",
    details: { refused: true, host, security: "deny" },
  });
}

/** What was asked for and means nothing where the command runs. */
function ignoredParams({ security, ask, node }: RouteInput["params"], host: ExecHost): string[] {
  const rules = host === "sandbox" && (security !== undefined || ask !== undefined);
  return [
    ...(rules ? ["security and ask were ignored: they hold for the hosts gateway and node."] : []),
    ...(node !== undefined && host !== "node" ? [`node was ignored: the command runs on host=${host}.`] : []),
  ];
}
