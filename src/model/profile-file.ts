// Reads and writes `auth-profiles.json` of an agent: stored credentials and their failure counters.
import { readFileSync, statSync } from "node:fs";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { errnoOf, OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";

export interface StoredCredential {
  readonly id: string;
  readonly provider: string;
  readonly type: "api_key" | "oauth" | "token";
  readonly secret: string;
  /** Expiry in milliseconds since the epoch. */
  readonly expires: number | undefined;
}

export interface UsageStats {
  readonly lastUsed?: number;
  readonly cooldownUntil?: number;
  readonly errorCount?: number;
  readonly disabledUntil?: number;
  readonly disabledReason?: string;
  readonly lastFailureAt?: number;
}

export interface ProfileFile {
  readonly credentials: readonly StoredCredential[];
  readonly stats: Readonly<Record<string, UsageStats>>;
  readonly order: Readonly<Record<string, readonly string[]>>;
}

const nothing: ProfileFile = { credentials: [], stats: {}, order: {} };
const cache = new Map<string, { readonly stamp: string; readonly file: ProfileFile }>();

/** Cached until the file changes on disk. Throws `auth.profiles-unreadable`. */
export function readProfileFile(path: string): ProfileFile {
  const stamp = stampOf(path);
  if (stamp === undefined) return nothing;
  const cached = cache.get(path);
  if (cached?.stamp === stamp) return cached.file;
  const file = parseProfiles(readRaw(path) ?? {});
  cache.set(path, { stamp, file });
  return file;
}

/** Changes only the counters of one profile; unknown keys stay. */
export function writeUsageStats(path: string, profileId: string, stats: UsageStats): void {
  const raw = readRaw(path);
  if (raw === undefined) return;
  const all = isRecord(raw["usageStats"]) ? raw["usageStats"] : {};
  writeFileAtomic(path, `${JSON.stringify({ ...raw, usageStats: { ...all, [profileId]: stats } }, null, 2)}\n`);
}

function parseProfiles(raw: Record<string, unknown>): ProfileFile {
  const profiles = isRecord(raw["profiles"]) ? raw["profiles"] : {};
  const stats = isRecord(raw["usageStats"]) ? raw["usageStats"] : {};
  const order = isRecord(raw["order"]) ? raw["order"] : {};
  return {
    credentials: Object.entries(profiles).flatMap(([id, value]) => parseCredential(id, value)),
    stats: Object.fromEntries(
      Object.entries(stats).flatMap(([id, value]) => (isRecord(value) ? [[id, parseStats(value)]] : [])),
    ),
    order: Object.fromEntries(
      Object.entries(order).flatMap(([provider, ids]) =>
        Array.isArray(ids) ? [[provider, (ids as unknown[]).filter((id) => typeof id === "string")]] : [],
      ),
    ),
  };
}

function parseCredential(id: string, value: unknown): StoredCredential[] {
  if (!isRecord(value) || typeof value["provider"] !== "string") return [];
  const provider = value["provider"].toLowerCase();
  const expires = typeof value["expires"] === "number" && value["expires"] > 0 ? value["expires"] : undefined;
  const make = (type: StoredCredential["type"], secret: unknown): StoredCredential[] => {
    // Keys pasted from a web page may contain line breaks.
    const clean = typeof secret === "string" ? secret.replaceAll(/\s+/g, "") : "";
    return clean === "" ? [] : [{ id, provider, type, secret: clean, expires }];
  };
  if (value["type"] === "api_key") return make("api_key", value["key"]);
  if (value["type"] === "token") return make("token", value["token"] ?? value["key"]);
  return value["type"] === "oauth" ? make("oauth", value["access"]) : [];
}

function parseStats(value: Record<string, unknown>): UsageStats {
  const numbers = ["lastUsed", "cooldownUntil", "errorCount", "disabledUntil", "lastFailureAt"] as const;
  const kept = numbers.flatMap((key) => (typeof value[key] === "number" ? [[key, value[key]] as const] : []));
  const reason = value["disabledReason"];
  return { ...Object.fromEntries(kept), ...(typeof reason === "string" ? { disabledReason: reason } : {}) };
}

function readRaw(path: string): Record<string, unknown> | undefined {
  try {
    const raw: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isRecord(raw)) return raw;
    throw new SyntaxError("not an object");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw new OpenClawError("auth.profiles-unreadable", `cannot read the auth profiles in ${path}`, {
      cause,
      hint: `correct or remove ${path}`,
    });
  }
}

function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.mtimeMs}:${stat.size}:${stat.ino}`;
}
