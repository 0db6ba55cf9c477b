// Tells whether an agent's Anthropic credential is a subscription (OAuth or setup token): such an agent has fewer heartbeats.
import type { Env, Paths } from "../base/paths.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { OpenClawError } from "../core/error.ts";
import { parseAgentId } from "../core/names.ts";
import { readProfileFile, type StoredCredential } from "./profile-file.ts";
import { profileFilesOf } from "./profiles.ts";

const PROVIDER = "anthropic";

export function usesAnthropicSubscription(config: Config, agentId: string, paths: Paths, env: Env): boolean {
  const model = agentConfig(config, parseAgentId(agentId))?.model ?? config.agents?.defaults?.model;
  const primary = typeof model === "string" ? model : model?.primary;
  if (primary?.includes("/") === true && !primary.trim().toLowerCase().startsWith(`${PROVIDER}/`)) return false;
  const stored = profileFilesOf(config, agentId, paths, env).flatMap((path) => credentialsIn(path));
  const [first] = orderedKinds(stored, config);
  return first !== undefined && first !== "api_key";
}

/** In the order in which they are tried. */
function orderedKinds(stored: readonly StoredCredential[], config: Config): readonly string[] {
  const mine = stored.filter(({ provider }) => provider === PROVIDER);
  const order = config.auth?.order?.[PROVIDER] ?? [];
  if (order.length > 0) return order.flatMap((id) => mine.find((entry) => entry.id === id)?.type ?? []);
  return mine.map(({ type }) => type).toSorted((left, right) => rank(left) - rank(right));
}

const rank = (type: string): number => (type === "api_key" ? 1 : 0);

/** An unreadable file is reported where credentials are used; here it counts as unknown. */
function credentialsIn(path: string): readonly StoredCredential[] {
  try {
    return readProfileFile(path).credentials;
  } catch (error) {
    if (error instanceof OpenClawError) return [];
    throw error;
  }
}
