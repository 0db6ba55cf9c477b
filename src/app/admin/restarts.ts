// Restarts asked for from inside: a note for who waits, then the restart; agents cannot make a loop of it.
import { ToolError } from "../../core/error.ts";
import { systemClock } from "../../base/clock.ts";
import { entryOf } from "../../session/session.ts";
import { leaveNote, type RestartNote } from "../../session/restart-notes.ts";
import type { AdminCaller } from "../../tool/admin.ts";
import type { Restart } from "../admin.ts";
import type { Runtime } from "../runtime.ts";

export interface RestartPlan {
  readonly kind: RestartNote["kind"];
  /** The action's own name. */
  readonly mode: string;
  readonly delayMs?: number | undefined;
  readonly message?: string | undefined;
  readonly caller: AdminCaller;
  /** Why, for the log. */
  readonly log: string;
  /** A new process image: for code that changed on disk. */
  readonly fresh?: boolean;
  readonly stats?: Readonly<Record<string, unknown>>;
}

export interface Restarts {
  /** Durable note first, then the restart; several at once become one. */
  ask(plan: RestartPlan): Promise<{ readonly ok: true; readonly delayMs: number; readonly reason: string }>;
  /** Throws when agents restarted the gateway too often of late (a job that restarts it at every start, say). */
  requireCalm(): Promise<void>;
  isCalm(): Promise<boolean>;
  /** The notes this start began with. */
  toldAtStart(notes: readonly RestartNote[]): void;
  toldOf(approvalId: string): boolean;
}

const DEFAULT_DELAY_MS = 2000;
const MAX_DELAY_MS = 10 * 60_000;
const SPACE = "admin";
const KEY = "restarts";
/** A restart this soon after a start is a quick one; that many quick ones of late are a loop, not somebody's wish. */
const QUICK_MS = 30_000;
const MAX_QUICK = 3;
const WINDOW_MS = 10 * 60_000;

export function createRestarts({ store, paths, mask }: Runtime, restart: Restart, startedTicks: number): Restarts {
  let told: readonly RestartNote[] = [];
  // What is asked while one is on its way is the same one.
  let isAsked = false;
  const recent = async (): Promise<number[]> => {
    const kept = await store.kv.get(SPACE, KEY);
    const since = systemClock.now() - WINDOW_MS;
    return Array.isArray(kept) ? kept.filter((at): at is number => typeof at === "number" && at > since) : [];
  };
  const isQuick = (): boolean => systemClock.ticks() - startedTicks < QUICK_MS;
  const isCalm = async (): Promise<boolean> => isAsked || !isQuick() || (await recent()).length < MAX_QUICK;
  return {
    isCalm,
    async requireCalm() {
      if (await isCalm()) return;
      throw new ToolError(
        "gateway.restart-storm",
        `the gateway was restarted from inside ${MAX_QUICK} times, each time right after its start; this one is refused`,
        {
          hint: "look why with openclaw logs; a person restarts it with: openclaw gateway restart",
          details: { refused: true },
        },
      );
    },
    async ask({ kind, mode, delayMs = DEFAULT_DELAY_MS, message, caller, log, fresh = false, stats = {} }) {
      const at = systemClock.now();
      const isFirst = !isAsked;
      isAsked = true;
      if (isFirst && isQuick()) await store.kv.set(SPACE, KEY, [...(await recent()), at]);
      const session = caller.tell ?? caller.session;
      const record = await store.sessions.get(session);
      const entry = record === undefined ? {} : entryOf(record);
      const deliveryContext =
        entry.deliveryContext ??
        (entry.lastChannel === undefined ? undefined : { channel: entry.lastChannel, to: entry.lastTo });
      leaveNote(paths.state, {
        kind,
        status: "ok",
        ts: at,
        sessionKey: session,
        ...(deliveryContext === undefined ? {} : { deliveryContext }),
        // It is kept in a file and read to a model.
        ...(message === undefined ? {} : { message: mask(message.slice(0, 2000).toWellFormed()) }),
        doctorHint: "openclaw doctor",
        stats: { mode, root: paths.config, ...stats },
      });
      const waitMs = Math.min(delayMs, MAX_DELAY_MS);
      restart(`${mode}: ${log.slice(0, 200)}`, waitMs, { fresh });
      return { ok: true, delayMs: waitMs, reason: mode };
    },
    toldAtStart(notes) {
      told = notes;
    },
    toldOf: (id) => told.some(({ stats }) => stats?.["approvalId"] === id),
  };
}
