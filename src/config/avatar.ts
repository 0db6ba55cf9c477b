// The avatar of an agent: a URL, a file in its workspace, or none.
import { parseAgentId, type AgentId } from "../core/names.ts";
import { agentConfig, defaultAgentId } from "./agents.ts";
import type { Config } from "./schema/index.ts";

export type Avatar =
  | { readonly kind: "url"; readonly url: string }
  /** A path in the agent's workspace, as configured. */
  | { readonly kind: "file"; readonly path: string };

/** Undefined when there is no image: letters or an emoji are shown as text. */
export function avatarOf(config: Config, agent: AgentId): Avatar | undefined {
  const shared = agent === defaultAgentId(config) ? config.ui?.assistant?.avatar : undefined;
  const written = (agentConfig(config, agent)?.identity?.avatar ?? shared ?? "").trim();
  if (isWebAddress(written) || /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i.test(written))
    return { kind: "url", url: written };
  const isFile = /\.(?:png|jpe?g|gif|webp|svg)$/i.test(written) && !/^[a-z][a-z0-9+.-]*:/i.test(written);
  return isFile ? { kind: "file", path: written } : undefined;
}

/** The URL for a browser. */
export function avatarUrl(config: Config, agent: AgentId): string | undefined {
  const avatar = avatarOf(config, agent);
  if (avatar?.kind !== "file") return avatar?.url;
  return `${controlUiBase(config)}/avatar/${encodeURIComponent(parseAgentId(agent))}`;
}

/** The URL path of the Control UI, without a trailing slash: empty for the root. */
export function controlUiBase({ gateway }: Config): string {
  const path = (gateway?.controlUi?.basePath ?? "").replaceAll(/^\/+|\/+$/g, "");
  return path === "" ? "" : `/${path}`;
}

function isWebAddress(text: string): boolean {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  return url !== null && url.username === "" && url.password === "";
}
