// A test fixture for cron: a real store, a manual clock, and a tool that records every start.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { RunOutcome } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import type { Clock } from "../base/clock.ts";
import { openLog } from "../base/log.ts";
import { createMask } from "../base/mask.ts";
import { createOutbound, type OutboundMessage } from "../channel/outbound.ts";
import type { Config } from "../config/schema/index.ts";
import { createSystemEvents } from "../session/system-events.ts";
import type { TurnRequest } from "../session/turns.ts";
import type { SlotRecord, Store } from "../store/store.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import { CronService, type CronEngine } from "./cron.ts";
import type { CronDeps, CronEvent, ToolRun } from "./deps.ts";
import { createJobOutputs } from "./outputs.ts";

export interface Stage {
  readonly store: Store;
  readonly cron: CronEngine;
  readonly clock: Clock & { set(wall: number): void; pass(ms: number): void };
  /** Every start of a job, in order. */
  readonly starts: ToolRun[];
  readonly events: CronEvent[];
  readonly notified: { readonly session: string; readonly text: string; readonly mode?: string | undefined }[];
  readonly said: { readonly session: string; readonly text: string; readonly id?: string | undefined }[];
  readonly sent: OutboundMessage[];
  /** Turns posted to agents; each ends as `outcomes` says, or not at all. */
  readonly posted: TurnRequest[];
  readonly outcomes: Map<string, Partial<RunOutcome>>;
  /** What the next runs do; by default they succeed immediately. */
  behave(run: CronDeps["runTool"]): void;
  /** Agents reject turns. */
  refuse(error: Error): void;
  /** Runs the scheduler until nothing is due. */
  settle(): Promise<void>;
  rows(id: string): Promise<SlotRecord[]>;
  /** Ends this process and opens the store in another. */
  restart(options?: Pick<StagePlan, "config" | "wrap">): Promise<Stage>;
  close(): Promise<void>;
}

export interface StagePlan {
  readonly now?: number;
  readonly config?: Config;
  readonly olderFile?: string;
  readonly isSkipped?: boolean;
  readonly folder?: string;
  readonly clock?: Stage["clock"];
  readonly starts?: ToolRun[];
  /** Replaces the store that the engine gets. */
  readonly wrap?: (store: Store) => Store;
}

export const NOON = Date.parse("2026-06-01T12:00:00Z");

export async function openStage(plan: StagePlan = {}): Promise<Stage> {
  const folder = plan.folder ?? mkdtempSync(join(tmpdir(), "cron-"));
  const store = await openSqliteStore({ file: join(folder, "store.sqlite") });
  const clock = plan.clock ?? handClock(plan.now ?? NOON);
  const starts = plan.starts ?? [];
  const posted: TurnRequest[] = [];
  const outcomes = new Map<string, Partial<RunOutcome>>([["", {}]]);
  const [events, notified, said, sent]: [CronEvent[], Stage["notified"], Stage["said"], OutboundMessage[]] = [
    [],
    [],
    [],
    [],
  ];
  let refusal: Error | undefined;
  let behavior: CronDeps["runTool"] = async () => ({ text: "done", isError: false });
  const deps: CronDeps = {
    store: plan.wrap?.(store) ?? store,
    clock,
    log: openLog({
      folder: join(folder, "logs"),
      level: "error",
      consoleLevel: "silent",
      mask: createMask([], []),
    } as never),
    config: () => plan.config ?? ({} as Config),
    turns: {
      async post(turn) {
        if (refusal !== undefined) throw refusal;
        const fresh = !posted.some(({ runId }) => runId === turn.runId);
        if (fresh) posted.push(turn);
        return { runId: turn.runId, acceptedAt: clock.now(), fresh };
      },
      async wait(runId, _timeoutMs, signal) {
        const found = outcomes.get(runId) ?? outcomes.get("");
        if (found !== undefined) return { ...wellEnded(runId, clock.now()), ...found };
        await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
        return undefined;
      },
      abort: async () => [],
      async say(session, text, id) {
        if (said.some((one) => one.id === id)) return;
        said.push({ session, text, id });
      },
    },
    wake: {
      async notify(session, text, mode, { together } = {}) {
        await together?.(undefined);
        notified.push({ session, text, mode });
      },
      async notifyAndWait(session, text, _timeoutMs, together) {
        await together?.(undefined);
        notified.push({ session, text, mode: "now" });
        return undefined;
      },
    },
    events: createSystemEvents(store.kv, () => clock.now()),
    outbound: createOutbound(
      new Map([
        [
          "pigeon",
          async (message) => {
            sent.push(message);
            return { state: "sent" };
          },
        ],
      ]),
    ),
    async runTool(run) {
      starts.push(run);
      return behavior(run);
    },
    emit: (event) => void events.push(event),
    outputs: createJobOutputs(join(folder, "cron", "output")),
    olderFile: plan.olderFile ?? join(folder, "cron", "jobs.json"),
    isSkipped: plan.isSkipped ?? false,
  };
  const cron = new CronService(deps);
  await cron.start();
  const stage: Stage = {
    store,
    cron,
    clock,
    starts,
    events,
    notified,
    said,
    sent,
    posted,
    outcomes,
    behave: (run) => {
      behavior = run;
    },
    refuse: (error) => {
      refusal = error;
    },
    async settle() {
      for (let quiet = 0; quiet < 3;) {
        const before = JSON.stringify([starts.length, events.length, await store.jobs.outlook()]);
        cron.reload();
        await sleep(2);
        quiet = before === JSON.stringify([starts.length, events.length, await store.jobs.outlook()]) ? quiet + 1 : 0;
      }
    },
    rows: (id) => store.slots.list(id, 5000),
    async restart(options = {}) {
      cron.stop();
      await store.close();
      return openStage({ ...plan, ...options, folder, clock, starts });
    },
    async close() {
      await cron.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return stage;
}

function wellEnded(runId: string, at: number): RunOutcome {
  return {
    runId,
    sessionKey: "agent:main:cron:x" as SessionKey,
    sessionId: `session of ${runId}`,
    status: "ok",
    startedAt: at,
    endedAt: at,
    text: "what the agent says",
    silent: false,
    toolCalls: 0,
  };
}

function handClock(start: number): Stage["clock"] {
  let [wall, ticks] = [start, 0];
  return {
    now: () => wall,
    ticks: () => ticks,
    /** Sets the wall clock without any time passing. */
    set: (next) => {
      wall = next;
    },
    pass: (ms) => {
      wall += ms;
      ticks += ms;
    },
  };
}

/** A command at an interval, without delivery. */
export const pulse = (everyMs: number, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: "pulse",
  schedule: { kind: "every", everyMs },
  payload: { kind: "exec", command: "true" },
  delivery: { mode: "none" },
  ...more,
});

export const shortRows = (rows: readonly SlotRecord[]): string[] =>
  rows.map(
    ({ at, state, missed }) => `${Math.round((at - NOON) / 1000)} ${state}${missed === undefined ? "" : ` x${missed}`}`,
  );
