// Rules across several keys, which may each be valid alone but not together.
import type { Env } from "../base/paths.ts";
import { OpenClawError } from "../core/error.ts";
import { parseAgentId, parseSessionKey, DEFAULT_AGENT } from "../core/names.ts";
import { nearest } from "../core/nearest.ts";
import { isRecord } from "../core/record.ts";
import { agentIds } from "./agents.ts";
import { channelFindings } from "./channel-rules.ts";
import type { Finding } from "./check.ts";
import { getAt, type ConfigPath } from "./path.ts";
import { compilePattern } from "./patterns.ts";
import type { Config } from "./schema/index.ts";

export interface RuleFindings {
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** For a config that is valid for the schema, without defaults: no rule depends on a default. */
export function checkRules(config: Config, env: Env): RuleFindings {
  const agents = agentFindings(config);
  const known = agents.length === 0;
  return {
    errors: [
      ...agents,
      ...(known ? routingFindings(config) : []),
      ...listFindings(config, []),
      ...hookFindings(config, env),
      ...channelFindings(config),
      ...patternFindings(config),
      ...sessionFindings(config),
      ...gatewayFindings(config),
      ...mcpFindings(config),
    ],
    warnings: warningsOf(config),
  };
}

function agentFindings(config: Config): Finding[] {
  const seen = new Set<string>();
  return (config.agents?.list ?? []).flatMap(({ id }, index): Finding[] => {
    const path = ["agents", "list", index, "id"];
    try {
      const name = parseAgentId(id);
      if (seen.has(name))
        return [{ path, message: `two agents are named ${name}`, hint: "give one of them another id" }];
      seen.add(name);
      return [];
    } catch (error) {
      return [toFinding(path, error)];
    }
  });
}

/** A conversation bound to a missing agent must not go to another one. */
function routingFindings(config: Config): Finding[] {
  const known: readonly string[] = agentIds(config);
  const check = (id: string, path: ConfigPath): Finding[] => {
    if (known.includes(id.trim().toLowerCase())) return [];
    const near = nearest(id, known);
    return [
      {
        path,
        message: `there is no agent named ${id}`,
        hint: near === undefined ? `agents: ${known.join(", ")}` : `did you mean ${near}?`,
      },
    ];
  };
  const bound = (config.bindings ?? []).flatMap(({ agentId }, index) => check(agentId, ["bindings", index, "agentId"]));
  const { strategy: _, ...peers } = (config.broadcast ?? {}) as Record<string, unknown>;
  const sent = Object.entries(peers).flatMap(([peer, ids]) =>
    (ids as string[]).flatMap((id, index) => check(id, ["broadcast", peer, index])),
  );
  return [...bound, ...sent];
}

/** `allow` lists what remains, `alsoAllow` what is added: in one scope they contradict each other. */
function listFindings(value: unknown, path: ConfigPath): Finding[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => listFindings(item, [...path, index]));
  if (!isRecord(value) || isFree(path)) return [];
  const both = Array.isArray(value["allow"]) && Array.isArray(value["alsoAllow"]);
  const here: Finding[] = both
    ? [
        {
          path: [...path, "alsoAllow"],
          message: "cannot be combined with allow in the same object",
          hint: "put its entries into allow, or use profile with alsoAllow",
        },
      ]
    : [];
  return [...here, ...Object.entries(value).flatMap(([key, child]) => listFindings(child, [...path, key]))];
}

/** Settings of plugins and skills have their own meaning. */
function isFree(path: ConfigPath): boolean {
  return (path[0] === "plugins" || path[0] === "skills") && path[1] === "entries" && path[3] === "config";
}

const serverId = /^(?!mcp$)[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

/** An id is part of tool names and appears in tool lists, so it must not equal another name there. */
function mcpFindings({ mcp }: Config): Finding[] {
  return Object.entries(mcp?.servers ?? {}).flatMap(([id, { command, url, headers, oauth }]): Finding[] => {
    const path = ["mcp", "servers", id];
    if (!serverId.test(id))
      return [
        {
          path,
          message: "an id has lower-case letters, digits and dashes, at most 32, and is not mcp",
          hint: "rename the server",
        },
      ];
    if ((command === undefined || command === "") === (url === undefined))
      return [{ path, message: "needs either command or url", hint: `openclaw mcp add ${id} --help` }];
    if (url === undefined && (headers !== undefined || oauth !== undefined))
      return [
        { path, message: "headers and oauth are for a server with a url", hint: "use env for secrets of a program" },
      ];
    if (url !== undefined && URL.parse(url) === null)
      return [{ path: [...path, "url"], message: "is not a URL", hint: `openclaw mcp add ${id} --url https://…` }];
    return [];
  });
}

function hookFindings(config: Config, env: Env): Finding[] {
  return [...hookTokenFindings(config, env), ...hookPathFindings(config)];
}

/** All paths below it are webhooks, so it cannot be the root. */
function hookPathFindings({ hooks }: Config): Finding[] {
  if (/[^/]/.test(hooks?.path ?? "/hooks")) return [];
  return [{ path: ["hooks", "path"], message: "must not be the root", hint: "openclaw config set hooks.path /hooks" }];
}

function hookTokenFindings({ hooks, gateway }: Config, env: Env): Finding[] {
  const token = hooks?.token ?? "";
  const path = ["hooks", "token"];
  if (hooks?.enabled === true && token === "") {
    return [
      {
        path,
        message: "must be set while hooks.enabled is true",
        hint: "openclaw config set hooks.token <a new secret>",
      },
    ];
  }
  if (token === "") return [];
  // The environment overrides the file, but a file with the same secret could come into use by one edit.
  const own = [
    gateway?.auth?.token,
    gateway?.auth?.password,
    env["OPENCLAW_GATEWAY_TOKEN"],
    env["OPENCLAW_GATEWAY_PASSWORD"],
  ];
  if (!own.includes(token)) return [];
  return [
    {
      path,
      message: "must not be the gateway's own secret",
      hint: "anyone who may send a webhook would have full access; use another secret",
    },
  ];
}

function patternFindings(config: Config): Finding[] {
  const places: ConfigPath[] = [
    ["logging", "redactPatterns"],
    ["messages", "groupChat", "mentionPatterns"],
    ...(config.agents?.list ?? []).map((_, index) => ["agents", "list", index, "groupChat", "mentionPatterns"]),
    ["approvals", "exec", "sessionFilter"],
    ["channels", "discord", "execApprovals", "sessionFilter"],
  ];
  return places.flatMap((path) =>
    ((getAt(config, path) ?? []) as string[]).flatMap((pattern, index): Finding[] => {
      try {
        compilePattern(pattern);
        return [];
      } catch (error) {
        return [toFinding([...path, index], error)];
      }
    }),
  );
}

function sessionFindings({ session, agents }: Config): Finding[] {
  const found: Finding[] = [];
  const { mainKey } = session ?? {};
  const zone = agents?.defaults?.userTimezone;
  if (mainKey !== undefined) {
    try {
      parseSessionKey(mainKey, { defaultAgent: DEFAULT_AGENT, mainKey: "main" });
    } catch (error) {
      found.push(toFinding(["session", "mainKey"], error));
    }
  }
  if (zone !== undefined && !isTimeZone(zone)) {
    found.push({
      path: ["agents", "defaults", "userTimezone"],
      message: `${zone} is not a time zone`,
      hint: "write it like Europe/Vienna",
    });
  }
  return found;
}

function gatewayFindings({ gateway }: Config): Finding[] {
  const found: Finding[] = [];
  if (gateway?.bind === "custom" && (gateway.customBindHost ?? "") === "") {
    found.push({ path: ["gateway", "customBindHost"], message: "must be set while gateway.bind is custom" });
  }
  if (gateway?.tailscale?.mode === "funnel" && gateway.auth?.mode !== "password") {
    found.push({
      path: ["gateway", "auth", "mode"],
      message: "must be password while gateway.tailscale.mode is funnel",
      hint: "a funnel is open to the whole internet",
    });
  }
  return found;
}

function warningsOf(config: Config): Finding[] {
  const defaults = (config.agents?.list ?? []).flatMap((agent, index) => (agent.default === true ? [index] : []));
  const several = defaults.slice(1).map((index): Finding => ({
    path: ["agents", "list", index, "default"],
    message: "another agent is already the default; this setting has no effect",
  }));
  const clamped = Object.entries(config.models?.providers ?? {}).flatMap(([id, { models }]) =>
    (models ?? []).flatMap(({ maxTokens, contextWindow }, index): Finding[] => {
      if (maxTokens === undefined || contextWindow === undefined || maxTokens <= contextWindow) return [];
      const path = ["models", "providers", id, "models", index, "maxTokens"];
      return [{ path, message: `exceeds contextWindow; ${contextWindow} is used` }];
    }),
  );
  return [...several, ...clamped];
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function toFinding(path: ConfigPath, error: unknown): Finding {
  if (!(error instanceof OpenClawError)) throw error;
  return { path, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
}
