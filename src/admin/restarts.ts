// Restarts requested from inside: writes a note for the waiting session, then restarts; stops restart loops of agents.
import { systemClock } from "../base/clock.ts";
import { ToolError } from "../core/error.ts";
import type { SessionKey } from "../core/names.ts";
import { writeRestartNote, type RestartNote } from "../session/restart-notes.ts";
import { entryOf } from "../session/session.ts";
import type { AdminCaller } from "../tool/admin.ts";
import type { AdminDeps } from "./deps.ts";

export interface RestartPlan {
  readonly kind: RestartNote["kind"];
  /** Name of the action, such as `config.patch`. */
  readonly mode: string;
  readonly delayMs?: number | undefined;
  readonly message?: string | undefined;
  /** Gets the note after the restart. */
  readonly session?: SessionKey | undefined;
  readonly deliveryContext?: unknown;
  /** Why, for the log. */
  readonly log?: string;
  /** In a new process image: for code that changed on disk. */
  readonly fresh?: boolean;
  readonly stats?: Readonly<Record<string, unknown>>;
}

export interface AnnouncedRestart {
  readonly delayMs: number;
  readonly note: RestartNote;
  /** File the note is in. */
  readonly file: string;
}

export interface Restarts {
  /** Writes the note durably, then restarts. The only writer of restart notes. */
  readonly announce: (plan: RestartPlan) => AnnouncedRestart;
  /** The same for a tool or a chat command: counted against loops, and the note goes to the caller's session. */
  ask(
    plan: Omit<RestartPlan, "session"> & { readonly caller: AdminCaller },
  ): Promise<{ readonly ok: true; readonly delayMs: number; readonly reason: string }>;
  /** Throws when agents restarted the gateway too often recently (such as a job that restarts it at every start). */
  requireCalm(): Promise<void>;
  isCalm(): Promise<boolean>;
  /** The notes this start began with. */
  deliveredAtStart(notes: readonly RestartNote[]): void;
  /** Whether one of them was about this approval. */
  wasDelivered(approvalId: string): boolean;
}

const DEFAULT_DELAY_MS = 2000;
const MAX_DELAY_MS = 10 * 60_000;
const SPACE = "admin";
const KEY = "restarts";
/** A restart this soon after a start is a quick one; this many quick ones within the window are a loop. */
const QUICK_MS = 30_000;
const MAX_QUICK = 3;
const WINDOW_MS = 10 * 60_000;

export function createRestarts({ store, paths, mask, restart }: AdminDeps): Restarts {
  const startedTicks = systemClock.ticks();
  let delivered: readonly RestartNote[] = [];
  // Requests during a pending restart join it.
  let isPending = false;
  const recent = async (): Promise<number[]> => {
    const kept = await store.kv.get(SPACE, KEY);
    const since = systemClock.now() - WINDOW_MS;
    return Array.isArray(kept) ? kept.filter((at): at is number => typeof at === "number" && at > since) : [];
  };
  const isQuick = (): boolean => systemClock.ticks() - startedTicks < QUICK_MS;
  const isCalm = async (): Promise<boolean> => isPending || !isQuick() || (await recent()).length < MAX_QUICK;

  const announce = (plan: RestartPlan): AnnouncedRestart => {
    const { kind, mode, delayMs = DEFAULT_DELAY_MS, message, session, deliveryContext, log, fresh, stats } = plan;
    const note: RestartNote = {
      kind,
      status: "ok",
      ts: systemClock.now(),
      ...(session === undefined ? {} : { sessionKey: session }),
      ...(deliveryContext === undefined ? {} : { deliveryContext }),
      // Redacted: the note is stored in a file and a model reads it.
      ...(message === undefined ? {} : { message: mask(message.slice(0, 2000).toWellFormed()) }),
      doctorHint: "openclaw doctor",
      stats: { mode, root: paths.config, ...stats },
    };
    const file = writeRestartNote(paths.state, note);
    restart(log === undefined ? mode : `${mode}: ${log.slice(0, 200)}`, delayMs, { fresh: fresh === true });
    return { delayMs, note, file };
  };

  return {
    announce,
    isCalm,
    async requireCalm() {
      if (await isCalm()) return;
      throw new ToolError(
        "gateway.restart-storm",
        `not restarted: agents restarted the gateway ${MAX_QUICK} times in a row right after its start`,
        {
          hint: "find the cause with openclaw logs; a person can restart it with: openclaw gateway restart",
          details: { refused: true },
        },
      );
    },
    async ask({ caller, delayMs = DEFAULT_DELAY_MS, ...plan }) {
      const isFirst = !isPending;
      isPending = true;
      if (isFirst && isQuick()) await store.kv.set(SPACE, KEY, [...(await recent()), systemClock.now()]);
      const session = caller.tell ?? caller.session;
      const record = await store.sessions.get(session);
      const entry = record === undefined ? {} : entryOf(record);
      const deliveryContext =
        entry.deliveryContext ??
        (entry.lastChannel === undefined ? undefined : { channel: entry.lastChannel, to: entry.lastTo });
      const { delayMs: waitMs } = announce({
        ...plan,
        session,
        deliveryContext,
        delayMs: Math.min(delayMs, MAX_DELAY_MS),
      });
      return { ok: true, delayMs: waitMs, reason: plan.mode };
    },
    deliveredAtStart(notes) {
      delivered = notes;
    },
    wasDelivered: (id) => delivered.some(({ stats }) => stats?.["approvalId"] === id),
  };
}
