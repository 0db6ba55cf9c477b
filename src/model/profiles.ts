// Chooses the credential of a call: stored profiles in order, then the config, then the environment; failing ones cool down.
import { join } from "node:path";

import type { Clock } from "../base/clock.ts";
import { sha256 } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { expandHome, type Env, type Paths } from "../base/paths.ts";
import { agentConfig, defaultAgentId } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { OpenClawError } from "../core/error.ts";
import { DEFAULT_AGENT, parseAgentId } from "../core/names.ts";
import type { Place } from "./catalog.ts";
import type { Credential, ModelFailure, ModelRef } from "./model.ts";
import {
  readProfileFile,
  writeUsageStats,
  type ProfileFile,
  type StoredCredential,
  type UsageStats,
} from "./profile-file.ts";

export interface Choice {
  /** A profile id; `env:NAME` or `config` for keys from elsewhere. */
  readonly profile: string;
  readonly credential: Credential | undefined;
  /** Undefined when it can be used now. */
  readonly restsUntil: number | undefined;
}

export interface Profiles {
  /** Best first: usable credentials in order, then cooling ones by the end of their cool-down. */
  choices(ref: ModelRef, place: Place, agentId: string): readonly Choice[];
  report(ref: ModelRef, agentId: string, profile: string, outcome: "ok" | ModelFailure): void;
}

export interface ProfilesDeps {
  readonly config: () => Config;
  readonly env: Env;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export function createProfiles({ config, env, paths, clock, log }: ProfilesDeps): Profiles {
  const overlay = new Map<string, UsageStats>();
  /** Keeping one credential keeps the vendor's prompt cache warm. */
  const sticky = new Map<string, string>();
  const warned = new Set<string>();

  const read = (path: string): ProfileFile => {
    try {
      return readProfileFile(path);
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      if (!warned.has(path)) log.warn(error.message, { hint: error.hint });
      warned.add(path);
      return { credentials: [], stats: {}, order: {} };
    }
  };
  const filesOf = (agentId: string): readonly string[] => profileFilesOf(config(), agentId, paths, env);
  const statsOf = (path: string | undefined, id: string): UsageStats =>
    overlay.get(`${path ?? ""}\n${id}`) ?? (path === undefined ? {} : (read(path).stats[id] ?? {}));

  return {
    choices(ref, place, agentId) {
      const now = clock.now();
      const stored = storedFor(
        ref,
        filesOf(agentId).map((path) => ({ path, file: read(path) })),
        config(),
      );
      const rows = [
        ...stored
          .filter(({ expires }) => expires === undefined || expires > now)
          .map((entry) => ({
            profile: entry.id,
            credential: credentialOf(entry, place),
            stats: statsOf(entry.path, entry.id),
          })),
        ...plainKeys(place, env).map(({ profile, key }) => ({
          profile,
          credential: { kind: place.asBearer ? ("bearer" as const) : ("key" as const), value: key },
          stats: statsOf(undefined, memoryId(ref.provider, profile, key)),
        })),
        ...(place.needsKey ? [] : [{ profile: "none", credential: undefined, stats: {} }]),
      ].filter(({ profile }) => ref.profile === undefined || profile === ref.profile);
      const kept = ref.preferredProfile ?? sticky.get(`${agentId}/${ref.provider}`);
      return rows
        .map(({ profile, credential, stats }) => ({ profile, credential, restsUntil: restingUntil(stats, now) }))
        .toSorted(
          (left, right) =>
            (left.restsUntil ?? 0) - (right.restsUntil ?? 0) ||
            Number(right.profile === kept) - Number(left.profile === kept),
        );
    },
    report(ref, agentId, profile, outcome) {
      const now = clock.now();
      if (profile === "none") return;
      sticky.set(`${agentId}/${ref.provider}`, profile);
      const path = filesOf(agentId).find((file) => read(file).credentials.some(({ id }) => id === profile));
      const key = path === undefined ? memoryKeyOf(ref, profile, config(), env) : profile;
      const before = statsOf(path, key);
      const after = outcome === "ok" ? succeeded(before, now) : failed(before, outcome, now, ref.provider, config());
      if (after === before) return;
      overlay.set(`${path ?? ""}\n${key}`, after);
      if (path !== undefined && (outcome !== "ok" || isWorthWriting(before, now))) save(path, profile, after);
    },
  };

  function save(path: string, profile: string, stats: UsageStats): void {
    try {
      writeUsageStats(path, profile, stats);
      overlay.delete(`${path}\n${profile}`);
    } catch (error) {
      // The counters stay in memory: a full disk must not stop a conversation.
      log.warn(`could not write ${path}`, { error: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** The agent's own file, then the main agent's. */
export function profileFilesOf(config: Config, agentId: string, paths: Paths, env: Env): readonly string[] {
  const main = defaultAgentId(config);
  const folders = [agentId, main, DEFAULT_AGENT].map((id) => agentFolder(config, id, paths, env));
  return [...new Set(folders)].map((folder) => join(folder, "auth-profiles.json"));
}

function agentFolder(config: Config, agentId: string, paths: Paths, env: Env): string {
  const id = parseAgentId(agentId);
  const own = agentConfig(config, id)?.agentDir;
  if (own !== undefined) return expandHome(own, paths.home);
  const moved = env["OPENCLAW_AGENT_DIR"] ?? env["PI_CODING_AGENT_DIR"];
  if (moved !== undefined && moved !== "" && id === defaultAgentId(config)) return expandHome(moved, paths.home);
  return join(paths.state, "agents", id, "agent");
}

interface Located extends StoredCredential {
  readonly path: string;
}

/** Order: stored with the agent, then the config's, then the config's profiles, then whatever is stored. */
function storedFor(
  { provider }: ModelRef,
  files: readonly { readonly path: string; readonly file: ProfileFile }[],
  config: Config,
): readonly Located[] {
  const all = files.flatMap(({ path, file }) => file.credentials.map((entry) => ({ ...entry, path })));
  const mine = all.filter(
    (entry, at) => entry.provider === provider && all.findIndex(({ id }) => id === entry.id) === at,
  );
  const named = Object.entries(config.auth?.profiles ?? {}).flatMap(([id, entry]) =>
    entry?.provider?.toLowerCase() === provider ? [id] : [],
  );
  const explicit =
    files.map(({ file }) => file.order[provider]).find((order) => order !== undefined) ??
    config.auth?.order?.[provider];
  if (explicit !== undefined && explicit.length > 0)
    return explicit.flatMap((id) => mine.find((entry) => entry.id === id) ?? []);
  const lastUsed = (entry: Located): number =>
    files.find(({ path }) => path === entry.path)?.file.stats[entry.id]?.lastUsed ?? 0;
  const rank = (entry: Located): number => (named.includes(entry.id) ? 0 : 2) + (entry.type === "api_key" ? 1 : 0);
  return mine.toSorted((left, right) => rank(left) - rank(right) || lastUsed(left) - lastUsed(right));
}

function credentialOf({ type, secret }: StoredCredential, place: Place): Credential {
  return { kind: type !== "api_key" || place.asBearer ? "bearer" : "key", value: secret };
}

function plainKeys(place: Place, env: Env): readonly { readonly profile: string; readonly key: string }[] {
  const configured = place.apiKey === undefined ? [] : [{ profile: "config", key: place.apiKey.trim() }];
  const fromEnv = place.envKeys.flatMap((name) => {
    const key = env[name]?.trim() ?? "";
    return key === "" ? [] : [{ profile: `env:${name}`, key }];
  });
  return [...configured, ...fromEnv];
}

/** A replaced key starts without failures. */
function memoryId(provider: string, profile: string, key: string): string {
  return `${provider}:${profile}:${sha256(key).slice(0, 16)}`;
}

function memoryKeyOf({ provider }: ModelRef, profile: string, config: Config, env: Env): string {
  const key =
    profile === "config"
      ? config.models?.providers?.[provider]?.apiKey?.trim()
      : env[profile.replace(/^env:/, "")]?.trim();
  return memoryId(provider, profile, key ?? "");
}

/** Ignores failures with a future time: the clock was set back, and the cool-down would last too long. */
function restingUntil(stats: UsageStats, now: number): number | undefined {
  const { cooldownUntil = 0, disabledUntil = 0, lastFailureAt = 0 } = stats;
  if (lastFailureAt > now) return undefined;
  const until = Math.max(cooldownUntil, disabledUntil);
  return until > now ? until : undefined;
}

function succeeded({ lastUsed = 0 }: UsageStats, now: number): UsageStats {
  return { lastUsed: Math.max(lastUsed, now), errorCount: 0 };
}

/** Successful use is written at most once a minute, because a disk sync per turn is too slow. */
function isWorthWriting(
  { lastUsed = 0, errorCount = 0, cooldownUntil, disabledUntil }: UsageStats,
  now: number,
): boolean {
  return errorCount > 0 || cooldownUntil !== undefined || disabledUntil !== undefined || now - lastUsed > minuteMs;
}

/** Only failures of the credential count; a lost connection does not. */
function failed(before: UsageStats, { kind }: ModelFailure, now: number, provider: string, config: Config): UsageStats {
  if (kind !== "auth" && kind !== "rate-limit" && kind !== "billing") return before;
  const limits = config.auth?.cooldowns;
  const windowMs = (limits?.failureWindowHours ?? 24) * hourMs;
  const isFresh = now - (before.lastFailureAt ?? -Infinity) > windowMs;
  const errorCount = (isFresh ? 0 : (before.errorCount ?? 0)) + 1;
  const counted = { ...before, errorCount, lastFailureAt: now };
  if (kind !== "billing") return { ...counted, cooldownUntil: now + Math.min(60, 5 ** (errorCount - 1)) * minuteMs };
  const firstHours = limits?.billingBackoffHoursByProvider?.[provider] ?? limits?.billingBackoffHours ?? 5;
  const hours = Math.min(limits?.billingMaxHours ?? 24, firstHours * 2 ** (errorCount - 1));
  return { ...counted, disabledUntil: now + hours * hourMs, disabledReason: "billing" };
}
