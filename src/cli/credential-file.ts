// Stores keys of model providers in the agent's private file, in the recorded shape; the config only names them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import type { AgentId } from "../core/names.ts";
import { isRecord } from "../core/record.ts";
import { writeFileAtomic } from "../base/atomic-file.ts";
import { expandHome, type Paths } from "../base/paths.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";

/** Returns the path of the file. Other profiles and their statistics stay. */
export function keepKey(paths: Paths, config: Config, agent: AgentId, provider: string, key: string): string {
  const file = credentialFile(paths, config, agent);
  const before = readCredentials(file);
  const profiles = isRecord(before["profiles"]) ? before["profiles"] : {};
  const next = {
    version: 1,
    ...before,
    profiles: { ...profiles, [`${provider}:default`]: { type: "api_key", provider, key } },
  };
  writeFileAtomic(file, `${JSON.stringify(next, null, 2)}\n`);
  return file;
}

function credentialFile(paths: Paths, config: Config, agent: AgentId): string {
  const own = agentConfig(config, agent)?.agentDir;
  const folder = own === undefined ? join(paths.state, "agents", agent, "agent") : expandHome(own, paths.home);
  return join(folder, "auth-profiles.json");
}

function readCredentials(file: string): Record<string, unknown> {
  if (!existsSync(file)) return {};
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isRecord(value)) return value;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  // Overwriting the file could lose keys that a person can still read in it.
  throw new OpenClawError("cli.bad-credentials", `${file} is not readable as JSON`, {
    hint: "fix or move that file, then try again",
  });
}
