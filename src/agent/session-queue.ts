// The queue of one session: one run at a time; messages that arrive during a run wait, steer it or interrupt it.
import { capQueue, nextBatch, onArrival, quietFor, type QueueSettings } from "../session/queue.ts";
import { stopped, type PendingTurn } from "./pending-turn.ts";

export interface SessionQueuePorts {
  settings(): Promise<QueueSettings>;
  /** Never throws, so that the next turn starts after a failed one. */
  run(pending: PendingTurn, summarized: readonly PendingTurn[], steer: () => readonly PendingTurn[]): Promise<void>;
  /** Ends a turn without running it. */
  dismiss(pending: PendingTurn, why: "dropped" | "interrupted" | { readonly reason: string }): Promise<void>;
  now(): number;
  /** Called when no turn runs or waits. */
  onIdle(): void;
}

export interface SessionQueue {
  add(pending: PendingTurn, settings: QueueSettings): void;
  /** Running and waiting turns, oldest first. */
  turns(): readonly PendingTurn[];
  isBusy(): boolean;
  /** Stops one turn, or all running and waiting ones; resolves with the turns that it ended. */
  abort(runId: string | undefined, reason: string): Promise<PendingTurn[]>;
  /** Waits for the current run and starts no other; waiting turns stay in the inbox. */
  close(stop: (pending: PendingTurn) => void): Promise<void>;
}

const RETRY_MS = 1_000;

export function createSessionQueue(ports: SessionQueuePorts): SessionQueue {
  let active: PendingTurn | undefined;
  let waiting: PendingTurn[] = [];
  /** Dropped by the cap; the next turn reads their first lines. */
  let summarized: PendingTurn[] = [];
  let steering: PendingTurn[] = [];
  let lastArrival = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let running: Promise<void> = Promise.resolve();
  let lastSettings: QueueSettings | undefined;

  const start = (settings: QueueSettings): void => {
    const count = nextBatch(waiting, settings.mode);
    const [leader, ...others] = waiting.splice(0, count);
    if (leader === undefined) return;
    leader.merged.push(...others);
    const shortened = leader.needsOwnTurn ? [] : summarized.splice(0);
    active = leader;
    running = ports.run(leader, shortened, takeSteering).then(next);
  };
  const takeSteering = (): readonly PendingTurn[] => steering.splice(0);

  async function next(): Promise<void> {
    active = undefined;
    waiting = [...steering.splice(0), ...waiting];
    if (isClosed) return;
    if (waiting.length === 0) return ports.onIdle();
    const settings = await ports.settings().catch(() => lastSettings);
    // Waiting turns must not be lost when the store cannot be read for a moment.
    if (settings === undefined) return void (timer = setTimeout(() => void next(), RETRY_MS));
    const first = waiting[0];
    // The debounce does not apply to a caller that waits for this answer.
    const waitMs = first?.needsOwnTurn === true ? 0 : quietFor(lastArrival, ports.now(), settings.debounceMs);
    if (waitMs === 0) return begin(settings);
    timer = setTimeout(() => begin(settings), waitMs);
  }

  function begin(settings: QueueSettings): void {
    clearTimeout(timer);
    timer = undefined;
    if (active !== undefined || isClosed) return;
    if (waiting.length === 0) return ports.onIdle();
    start(settings);
  }

  const enforceCap = (settings: QueueSettings): void => {
    const others = waiting.filter(({ needsOwnTurn }) => !needsOwnTurn);
    const { dropped } = capQueue(others, settings);
    if (dropped.length === 0) return;
    waiting = waiting.filter((pending) => !dropped.includes(pending));
    if (settings.drop === "summarize") summarized.push(...dropped);
    else for (const pending of dropped) void ports.dismiss(pending, "dropped");
  };

  return {
    add(pending, settings) {
      if (isClosed) return; // it stays in the inbox
      lastSettings = settings;
      lastArrival = ports.now();
      // The newest message also replaces waiting ones when the run that it would stop has just ended.
      const isBusy = active !== undefined || (settings.mode === "interrupt" && waiting.length > 0);
      const arrival = onArrival(pending.needsOwnTurn ? "followup" : settings.mode, isBusy);
      if (arrival === "steer") return void steering.push(pending);
      if (arrival === "steer-and-queue") steering.push(copyOf(pending));
      if (arrival === "interrupt") {
        for (const old of waiting.filter(({ needsOwnTurn }) => !needsOwnTurn)) void ports.dismiss(old, "interrupted");
        waiting = waiting.filter(({ needsOwnTurn }) => needsOwnTurn);
        active?.control.abort(stopped("a newer message interrupted it"));
      }
      waiting.push(pending);
      enforceCap(settings);
      if (active === undefined && timer === undefined) start(settings);
    },
    turns: () => [...(active === undefined ? [] : [active, ...active.merged]), ...steering, ...summarized, ...waiting],
    isBusy: () => active !== undefined || timer !== undefined,
    async abort(runId, reason) {
      const isMeant = (pending: PendingTurn): boolean =>
        runId === undefined ? pending.stage !== "directing" : pending.turn.runId === runId;
      const queued = [...steering, ...summarized, ...waiting].filter(
        (pending) => pending.stage === "waiting" && isMeant(pending),
      );
      const removed = new Set(queued);
      const stays = (pending: PendingTurn): boolean => !removed.has(pending);
      [steering, summarized, waiting] = [steering.filter(stays), summarized.filter(stays), waiting.filter(stays)];
      const isActiveMeant = active !== undefined && (isMeant(active) || active.merged.some(isMeant));
      const current = active !== undefined && isActiveMeant ? [active, ...active.merged] : [];
      current[0]?.control.abort(stopped(reason));
      await Promise.all([
        ...current.map(({ ended }) => ended),
        ...queued.map((pending) => ports.dismiss(pending, { reason })),
      ]);
      return [...current, ...queued];
    },
    async close(stop) {
      isClosed = true;
      clearTimeout(timer);
      if (active !== undefined) stop(active);
      await running;
    },
  };
}

/** For steering only: its outcome comes from the turn that follows. */
function copyOf(pending: PendingTurn): PendingTurn {
  return { ...pending, merged: [], emit: () => {}, end: () => {}, stage: "ended" };
}
