// Decides whose request runs next: light clients first, heavy ones one at a time, with turns of the event loop in between.
import type { Clock } from "../base/clock.ts";

export interface FairQueue {
  /** One per connection. `isBlocked` delays its jobs, for example while the client does not read responses. */
  lane(isBlocked?: () => boolean): Lane;
}

export interface Lane {
  /** Runs the job now, or later when its turn comes. Jobs of one lane start in order. */
  offer(job: () => void): void;
  /** Jobs that have not started. */
  size(): number;
  /** Call it when the reason for the block may have ended. */
  unblock(): void;
  /** Drops the jobs that have not started. */
  close(): void;
}

/** What all starts in one turn of the event loop may cost together, as far as known. */
const TURN_MS = 4;
/** The cost of a lane is estimated from the past; it may start a few jobs before that is measured again. */
const STARTS_A_TURN = 4;
const FIRST_GUESS_MS = 1;
const LEAST_MS = 0.01;
/** A lane that used this much more than its share is heavy, until it has waited as long in real time. */
const HEAVY_MS = 10;
const SHARE = 0.25;

interface LaneState {
  readonly isBlocked: () => boolean;
  jobs: (() => void)[];
  /** Milliseconds that one job is expected to keep the loop busy: rises immediately, falls slowly. */
  estimate: number;
  debt: number;
  debtAt: number;
  /** Jobs started in this turn. */
  starts: number;
  isWaiting: boolean;
}

/** `later` runs after input and output had their turn; tests pass their own. */
export function createFairQueue(clock: Clock, later: (work: () => void) => void = setImmediate): FairQueue {
  const light: LaneState[] = [];
  const heavy: LaneState[] = [];
  /** The lanes that started a job in this turn, once for each start. */
  let started: LaneState[] = [];
  let turnFrom = 0;
  let isOpen = false;
  /** What the light lanes may still use of this turn. */
  let left = TURN_MS;

  const openTurn = (): void => {
    if (isOpen) return;
    isOpen = true;
    turnFrom = clock.ticks();
    later(endTurn);
  };
  const isHeavy = (lane: LaneState): boolean => {
    const now = clock.ticks();
    lane.debt = Math.max(0, lane.debt - (now - lane.debtAt) * SHARE);
    lane.debtAt = now;
    return lane.debt > HEAVY_MS;
  };
  const wait = (lane: LaneState): void => {
    if (lane.isWaiting || lane.jobs.length === 0 || lane.isBlocked()) return;
    lane.isWaiting = true;
    (isHeavy(lane) ? heavy : light).push(lane);
    openTurn();
  };
  const start = (lane: LaneState): void => {
    openTurn();
    started.push(lane);
    lane.starts += 1;
    lane.jobs.shift()?.();
  };
  const hasRoom = (lane: LaneState): boolean =>
    lane.starts < STARTS_A_TURN && (lane.estimate <= left || left === TURN_MS);
  const startLight = (lane: LaneState): void => {
    left -= lane.estimate;
    start(lane);
  };

  /** Measures the jobs that were started in this turn and have run until they wait for something. */
  const settle = (): void => {
    const planned = started.reduce((sum, { estimate }) => sum + estimate, 0);
    const scale = (clock.ticks() - turnFrom) / planned;
    for (const lane of new Set(started)) {
      const cost = lane.estimate * scale;
      lane.debt += cost * lane.starts;
      lane.starts = 0;
      lane.estimate = Math.max(LEAST_MS, cost > lane.estimate ? cost : lane.estimate * 0.7 + cost * 0.3);
    }
    started = [];
    left = TURN_MS;
  };
  const runLight = (): void => {
    for (let tries = light.length * STARTS_A_TURN; tries > 0 && left > 0; tries--) {
      const lane = light.shift();
      if (lane === undefined) return;
      lane.isWaiting = false;
      if (isHeavy(lane) || lane.jobs.length === 0 || lane.isBlocked()) wait(lane);
      else {
        if (hasRoom(lane)) startLight(lane);
        wait(lane);
      }
    }
  };
  /** One heavy lane per turn: it waits for the light ones, but not forever. */
  const runHeavy = (): void => {
    const lane = heavy.shift();
    if (lane === undefined) return;
    lane.isWaiting = false;
    if (lane.jobs.length > 0 && !lane.isBlocked()) start(lane);
    wait(lane);
  };
  function endTurn(): void {
    isOpen = false;
    settle();
    runLight();
    runHeavy();
    if (light.length + heavy.length > 0) openTurn();
  }

  return {
    lane(isBlocked = () => false) {
      const lane: LaneState = {
        isBlocked,
        jobs: [],
        estimate: FIRST_GUESS_MS,
        debt: 0,
        debtAt: clock.ticks(),
        starts: 0,
        isWaiting: false,
      };
      return {
        offer(job) {
          lane.jobs.push(job);
          const isNext = lane.jobs.length === 1 && light.length === 0 && !lane.isBlocked();
          if (isNext && hasRoom(lane) && !isHeavy(lane)) startLight(lane);
          else wait(lane);
        },
        size: () => lane.jobs.length,
        unblock: () => wait(lane),
        close() {
          lane.jobs = [];
        },
      };
    },
  };
}
