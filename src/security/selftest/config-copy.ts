// Copies the user's config for the test: keeps every rule, removes every connection to the outside, moves every path.
import { join } from "node:path";

import { isRecord } from "../../core/record.ts";

export interface Places {
  readonly state: string;
  /** Contains prepared traps; the attacked agent works here. */
  readonly workspace: string;
  readonly agent: string;
  /** The user's real home, to which `~` in their paths refers. */
  readonly realHome: string;
  readonly token: string;
}

type Keys = Readonly<Record<string, unknown>>;

/** `parsed` is the config as read, with includes and variables. Keys that are not listed here are not copied. */
export function copyConfig(parsed: unknown, places: Places): Record<string, unknown> {
  const from: Keys = isRecord(parsed) ? parsed : {};
  return {
    gateway: gatewayOf(recordAt(from, "gateway"), places),
    agents: agentsOf(recordAt(from, "agents"), places),
    ...kept(from, "tools", "commands"),
    ...(isRecord(from["session"])
      ? { session: picked(from["session"], "mainKey", "scope", "dmScope", "agentToAgent", "sendPolicy") }
      : {}),
    ...(isRecord(from["logging"]) ? { logging: picked(from["logging"], "redactSensitive", "redactPatterns") } : {}),
    plugins: { enabled: false },
  };
}

/** Entries keep referring to the user's own programs; the socket and its token are not copied. */
export function copyApprovals(file: unknown, { realHome }: Places, extra: readonly string[]): Record<string, unknown> {
  const from: Keys = isRecord(file) ? file : {};
  const agents = Object.entries(recordAt(from, "agents")).map(
    ([id, level]) => [id, isRecord(level) ? levelOf(level, realHome) : {}] as const,
  );
  const own = Object.fromEntries(agents);
  const everybody = own["*"] ?? {};
  const list = Array.isArray(everybody["allowlist"]) ? everybody["allowlist"] : [];
  return {
    version: 1,
    defaults: recordAt(from, "defaults"),
    agents: { ...own, "*": { ...everybody, allowlist: [...list, ...extra.map((pattern) => ({ pattern }))] } },
  };
}

function levelOf(level: Keys, realHome: string): Record<string, unknown> {
  const list: unknown[] = Array.isArray(level["allowlist"]) ? level["allowlist"] : [];
  return {
    ...level,
    allowlist: list.map((entry) =>
      isRecord(entry) && typeof entry["pattern"] === "string"
        ? { ...entry, pattern: entry["pattern"].replace(/^~(?=\/)/, realHome) }
        : entry,
    ),
  };
}

function gatewayOf(from: Keys, { token }: Places): Record<string, unknown> {
  const page = recordAt(from, "controlUi");
  const auth = recordAt(from, "auth");
  const isPassword = auth["mode"] === "password";
  return {
    ...picked(from, "allowedHosts", "trustedProxies", "http", "nodes"),
    mode: "local",
    bind: "loopback",
    auth: {
      ...picked(auth, "allowTailscale"),
      mode: isPassword ? "password" : "token",
      [isPassword ? "password" : "token"]: token,
    },
    controlUi: picked(page, "enabled", "allowedOrigins", "allowInsecureAuth", "dangerouslyDisableDeviceAuth"),
    reload: { mode: "off" },
  };
}

function agentsOf(from: Keys, places: Places): Record<string, unknown> {
  const defaults = recordAt(from, "defaults");
  const list = Array.isArray(from["list"]) ? from["list"].filter(isRecord) : [];
  return {
    defaults: {
      ...picked(defaults, "elevatedDefault", "tools", "timeoutSeconds"),
      workspace: places.workspace,
      ...sandboxOf(defaults, places),
    },
    ...(list.length === 0
      ? {}
      : {
          list: list.map((agent) => ({
            ...picked(agent, "id", "default", "tools", "subagents"),
            ...workspaceFor(agent, places),
            ...sandboxOf(agent, places),
          })),
        }),
  };
}

function workspaceFor(agent: Keys, { state, workspace, agent: attacked }: Places): { workspace?: string } {
  const id = String(agent["id"]);
  if (id.trim().toLowerCase() === attacked) return { workspace };
  return agent["workspace"] === undefined ? {} : { workspace: join(state, `workspace-${id}`) };
}

function sandboxOf(from: Keys, { state }: Places): { sandbox?: Record<string, unknown> } {
  if (!isRecord(from["sandbox"])) return {};
  const sandbox = from["sandbox"];
  const docker = recordAt(sandbox, "docker");
  return {
    sandbox: {
      ...sandbox,
      ...(sandbox["workspaceRoot"] === undefined ? {} : { workspaceRoot: join(state, "sandboxes") }),
      // Containers of the test must never be mistaken for the real ones.
      docker: { ...docker, containerPrefix: "openclaw-selftest-" },
    },
  };
}

function recordAt(from: Keys, key: string): Keys {
  const value = from[key];
  return isRecord(value) ? value : {};
}

function picked(from: Keys, ...keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
}

const kept = picked;
