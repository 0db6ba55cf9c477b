// When a session resets automatically: daily, after a pause, or at the earlier of both.
import { sessionKindOf, splitSessionKey, type SessionKey } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";

export interface ResetRule {
  /** Hour of the day on the host, or undefined for no daily reset. */
  readonly atHour: number | undefined;
  readonly idleMinutes: number | undefined;
}

type ResetConfig = NonNullable<NonNullable<Config["session"]>["reset"]>;

/** The rule of the channel, else of the chat type, else the general one, else daily at 4 am. Heartbeats can have their own pause. */
export function resetRule(config: Config, key: SessionKey, channel?: string, heartbeat = false): ResetRule {
  const rule = ruleFor(config, key, channel);
  const own = heartbeat ? config.session?.heartbeatIdleMinutes : undefined;
  return own === undefined ? rule : { ...rule, idleMinutes: own };
}

function ruleFor(config: Config, key: SessionKey, channel: string | undefined): ResetRule {
  const rules = config.session;
  const kind = chatKind(key);
  const chosen =
    (channel === undefined ? undefined : rules?.resetByChannel?.[channel]) ??
    rules?.resetByType?.[kind] ??
    (kind === "direct" ? rules?.resetByType?.dm : undefined) ??
    rules?.reset;
  if (chosen !== undefined) return toRule(chosen);
  if (rules?.idleMinutes !== undefined) return { atHour: undefined, idleMinutes: rules.idleMinutes };
  return { atHour: 4, idleMinutes: undefined };
}

export function isStale(rule: ResetRule, updatedAt: number, now: number): boolean {
  if (rule.idleMinutes !== undefined && rule.idleMinutes > 0 && now - updatedAt > rule.idleMinutes * 60_000)
    return true;
  return rule.atHour !== undefined && updatedAt < lastBoundary(rule.atHour, now);
}

/** The last time the host's clock showed that full hour. */
export function lastBoundary(atHour: number, now: number): number {
  const day = new Date(now);
  day.setHours(atHour, 0, 0, 0);
  if (day.getTime() > now) day.setDate(day.getDate() - 1);
  return day.getTime();
}

function toRule({ mode, atHour, idleMinutes }: ResetConfig): ResetRule {
  if (mode === "idle") return { atHour: undefined, idleMinutes };
  return { atHour: atHour ?? 4, idleMinutes };
}

function chatKind(key: SessionKey): "direct" | "group" | "thread" {
  const { rest } = splitSessionKey(key);
  if (/:(?:thread|topic):/.test(rest)) return "thread";
  return sessionKindOf(key) === "group" ? "group" : "direct";
}
