// Time and chance, in one place so that tests can hold them still.

export interface Clock {
  /** Wall clock, milliseconds. */
  now(): number;
  /** Monotonic milliseconds; only differences mean anything. */
  ticks(): number;
}

export const systemClock: Clock = { now: () => Date.now(), ticks: () => performance.now() };
