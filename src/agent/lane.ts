// The queue of one session: one run at a time; what arrives meanwhile waits, steers or interrupts.
import { capQueue, nextBatch, onArrival, quietFor, type QueueSettings } from "../session/queue.ts";
import { stopped, type PendingTurn } from "./pending-turn.ts";

export interface LanePorts {
  settings(): Promise<QueueSettings>;
  /** Never throws: whatever goes wrong in a run, the lane goes on behind it. */
  run(pending: PendingTurn, summarised: readonly PendingTurn[], steer: () => readonly PendingTurn[]): Promise<void>;
  /** Ends a job without running it. */
  dismiss(pending: PendingTurn, why: "dropped" | "interrupted" | { readonly reason: string }): Promise<void>;
  now(): number;
  /** Nothing is left to do here. */
  idle(): void;
}

export interface Lane {
  add(pending: PendingTurn, settings: QueueSettings): void;
  /** Run ids under way and waiting, oldest first. */
  jobs(): readonly PendingTurn[];
  isBusy(): boolean;
  /** Stops one run, or all of them with what waits behind; resolves with what it ended. */
  abort(runId: string | undefined, reason: string): Promise<PendingTurn[]>;
  /** Waits for the run under way; nothing else starts. What waits stays in the inbox. */
  close(stop: (pending: PendingTurn) => void): Promise<void>;
}

const RETRY_MS = 1_000;

export function createLane(ports: LanePorts): Lane {
  let active: PendingTurn | undefined;
  let waiting: PendingTurn[] = [];
  let summarised: PendingTurn[] = [];
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
    const told = leader.alone ? [] : summarised.splice(0);
    active = leader;
    running = ports.run(leader, told, takeSteering).then(next);
  };
  const takeSteering = (): readonly PendingTurn[] => steering.splice(0);

  async function next(): Promise<void> {
    active = undefined;
    waiting = [...steering.splice(0), ...waiting];
    if (isClosed) return;
    if (waiting.length === 0) return ports.idle();
    const settings = await ports.settings().catch(() => lastSettings);
    // Those that wait must not be left behind because the store cannot be read in this moment.
    if (settings === undefined) return void (timer = setTimeout(() => void next(), RETRY_MS));
    const first = waiting[0];
    // A caller that waits for this answer does not wait for others to finish typing.
    const waitMs = first?.alone === true ? 0 : quietFor(lastArrival, ports.now(), settings.debounceMs);
    if (waitMs === 0) return begin(settings);
    timer = setTimeout(() => begin(settings), waitMs);
  }

  function begin(settings: QueueSettings): void {
    clearTimeout(timer);
    timer = undefined;
    if (active !== undefined || isClosed) return;
    if (waiting.length === 0) return ports.idle();
    start(settings);
  }

  const enforceCap = (settings: QueueSettings): void => {
    const others = waiting.filter(({ alone }) => !alone);
    const { dropped } = capQueue(others, settings);
    if (dropped.length === 0) return;
    const gone = new Set(dropped);
    waiting = waiting.filter((pending) => !gone.has(pending));
    if (settings.drop === "summarize") summarised.push(...dropped);
    else for (const pending of dropped) void ports.dismiss(pending, "dropped");
  };

  return {
    add(pending, settings) {
      if (isClosed) return; // it stays in the inbox
      lastSettings = settings;
      lastArrival = ports.now();
      const arrival = onArrival(pending.alone ? "followup" : settings.mode, active !== undefined);
      if (arrival === "steer") return void steering.push(pending);
      if (arrival === "steer-and-queue") steering.push(copyOf(pending));
      if (arrival === "interrupt") {
        for (const old of waiting.filter(({ alone }) => !alone)) void ports.dismiss(old, "interrupted");
        waiting = waiting.filter(({ alone }) => alone);
        active?.control.abort(stopped("a newer message interrupted it"));
      }
      waiting.push(pending);
      enforceCap(settings);
      if (active === undefined && timer === undefined) start(settings);
    },
    jobs: () => [...(active === undefined ? [] : [active, ...active.merged]), ...steering, ...summarised, ...waiting],
    isBusy: () => active !== undefined || timer !== undefined,
    async abort(runId, reason) {
      const hit = (pending: PendingTurn): boolean =>
        runId === undefined ? pending.stage !== "directing" : pending.turn.runId === runId;
      const behind = [...steering, ...summarised, ...waiting].filter(
        (pending) => pending.stage === "waiting" && hit(pending),
      );
      const gone = new Set(behind);
      const stays = (pending: PendingTurn): boolean => !gone.has(pending);
      [steering, summarised, waiting] = [steering.filter(stays), summarised.filter(stays), waiting.filter(stays)];
      const front = active !== undefined && (hit(active) || active.merged.some(hit)) ? [active, ...active.merged] : [];
      front[0]?.control.abort(stopped(reason));
      await Promise.all([
        ...front.map(({ ended }) => ended),
        ...behind.map((pending) => ports.dismiss(pending, { reason })),
      ]);
      return [...front, ...behind];
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
