// Time and randomness, injectable so that tests can control them.

export interface Clock {
  /** Wall clock, milliseconds. */
  now(): number;
  /** Monotonic milliseconds; only differences mean anything. */
  ticks(): number;
}

export const systemClock: Clock = { now: () => Date.now(), ticks: () => performance.now() };
