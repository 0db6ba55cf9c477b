// When heartbeats are due: counted from the last due time by the wall clock, checked by a monotonic timer.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { KvTable } from "../../store/store.ts";

export interface Beating {
  readonly agentId: string;
  readonly everyMs: number;
}

export interface TimerDeps {
  /** Read at each check, so that a changed config applies. */
  readonly plan: () => readonly Beating[];
  /** Resolves when this beat is over; `busy` asks for another try soon. The same due time means the same beat. */
  readonly beat: (agentId: string, dueAt: number) => Promise<"over" | "busy">;
  /** Called once, before the first check. */
  readonly begin: () => Promise<void>;
  readonly kv: KvTable;
  readonly clock: Clock;
  readonly log: Log;
}

export interface HeartbeatTimer {
  /** Checks now, because the plan may have changed. */
  check(): void;
  close(): void;
}

const SPACE = "heartbeat-due";
/** A sleeping machine stops timers: after it wakes, no beat is later than this. */
const CHECK_MS = 15_000;
const FIRST_CHECK_MS = 500;
const BUSY_MS = 1000;

export function startHeartbeatTimer({ plan, beat, begin, kv, clock, log }: TimerDeps): HeartbeatTimer {
  /** Last due time of each agent; the next one is `everyMs` later. */
  let last: Map<string, number> | undefined;
  const underWay = new Set<string>();
  /** Monotonic times before which an agent is not tried again. */
  const rests = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const keep = async (agentId: string, at: number | undefined): Promise<void> => {
    if (at === undefined) last?.delete(agentId);
    else last?.set(agentId, at);
    await kv.set(SPACE, agentId, at);
  };
  const run = async (agentId: string, dueAt: number, everyMs: number): Promise<void> => {
    underWay.add(agentId);
    const rest = (ms: number): void => void rests.set(agentId, clock.ticks() + ms);
    try {
      if ((await beat(agentId, dueAt)) === "busy") rest(BUSY_MS);
      // One beat makes up for all missed ones.
      else await keep(agentId, lastDue(dueAt, everyMs, clock.now()));
    } catch (error) {
      rest(CHECK_MS);
      log.warn("a heartbeat failed", { agentId, error });
    } finally {
      underWay.delete(agentId);
      arm(nextMs());
    }
  };
  const check = async (): Promise<void> => {
    if (last === undefined) {
      last = new Map(
        (await kv.list(SPACE)).flatMap(({ key, value }) => (typeof value === "number" ? [[key, value]] : [])),
      );
      await begin();
    }
    const now = clock.now();
    const beating = plan();
    for (const agentId of last.keys())
      if (!beating.some((one) => one.agentId === agentId)) await keep(agentId, undefined);
    for (const { agentId, everyMs } of beating) {
      const before = last.get(agentId);
      // The first beat, or the clock was set back.
      if (before === undefined || before > now) await keep(agentId, now);
      else if (now >= before + everyMs && isFree(agentId)) void run(agentId, before + everyMs, everyMs);
    }
  };
  const isFree = (agentId: string): boolean =>
    !underWay.has(agentId) && (rests.get(agentId) ?? -Infinity) <= clock.ticks();
  const nextMs = (): number => {
    const now = clock.now();
    const waits = plan().flatMap(({ agentId, everyMs }) => {
      if (underWay.has(agentId)) return [];
      const dueMs = (last?.get(agentId) ?? now) + everyMs - now;
      return [Math.max(dueMs, (rests.get(agentId) ?? -Infinity) - clock.ticks())];
    });
    return Math.max(1, Math.min(CHECK_MS, ...waits));
  };
  const arm = (waitMs: number): void => {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      check()
        .catch((error: unknown) => log.warn("heartbeats could not be checked", { error }))
        .finally(() => arm(nextMs()));
    }, waitMs).unref();
  };
  arm(FIRST_CHECK_MS);
  return {
    check: () => arm(1),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The newest due time that is not after `now`. */
function lastDue(dueAt: number, everyMs: number, now: number): number {
  return dueAt + Math.max(0, Math.floor((now - dueAt) / everyMs)) * everyMs;
}
