// The picture of an agent: an address, a file of its workspace, or none.
import { parseAgentId, type AgentId } from "../core/names.ts";
import { agentConfig, defaultAgentId } from "./agents.ts";
import type { Config } from "./schema/index.ts";

export type Avatar =
  | { readonly kind: "url"; readonly url: string }
  /** A path in the workspace of the agent, as written. */
  | { readonly kind: "file"; readonly path: string };

/** Undefined when there is no picture: a few letters or an emoji are shown as text. */
export function avatarOf(config: Config, agent: AgentId): Avatar | undefined {
  const shared = agent === defaultAgentId(config) ? config.ui?.assistant?.avatar : undefined;
  const written = (agentConfig(config, agent)?.identity?.avatar ?? shared ?? "").trim();
  if (isWebAddress(written) || /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i.test(written))
    return { kind: "url", url: written };
  const isFile = /\.(?:png|jpe?g|gif|webp|svg)$/i.test(written) && !/^[a-z][a-z0-9+.-]*:/i.test(written);
  return isFile ? { kind: "file", path: written } : undefined;
}

/** Where a browser finds it. */
export function avatarUrl(config: Config, agent: AgentId): string | undefined {
  const avatar = avatarOf(config, agent);
  if (avatar?.kind !== "file") return avatar?.url;
  return `${controlUiBase(config)}/avatar/${encodeURIComponent(parseAgentId(agent))}`;
}

/** The path the Control UI is served under, without a slash at its end: empty for the root. */
export function controlUiBase({ gateway }: Config): string {
  const path = (gateway?.controlUi?.basePath ?? "").replaceAll(/^\/+|\/+$/g, "");
  return path === "" ? "" : `/${path}`;
}

function isWebAddress(text: string): boolean {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  return url !== null && url.username === "" && url.password === "";
}
