// The three deadlines of a model call: connect, first token, and the gap between two tokens.

export interface Deadlines {
  readonly connectMs: number;
  readonly firstTokenMs: number;
  readonly stallMs: number;
}

export const usualDeadlines: Deadlines = { connectMs: 15_000, firstTokenMs: 120_000, stallMs: 60_000 };

export type Missed = "connect" | "first-token" | "stall";

export interface Watchdog {
  /** Aborts when a deadline passes or the caller gives up. */
  readonly signal: AbortSignal;
  /** Which deadline it was; undefined while none has passed. */
  missed(): Missed | undefined;
  connected(): void;
  /** The server sent something; before the first token this does not reset the deadline. */
  alive(): void;
  token(): void;
  /** Clears the timers; with `cut` it also aborts the signal. */
  close(cut: boolean): void;
}

export function startWatchdog(limits: Deadlines, caller: AbortSignal): Watchdog {
  const controller = new AbortController();
  let missed: Missed | undefined;
  let hasToken = false;
  let timer: NodeJS.Timeout | undefined;
  const expect = (what: Missed, durationMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      missed = what;
      controller.abort(new DOMException(`deadline passed: ${what}`, "TimeoutError"));
    }, durationMs);
  };
  const onCaller = (): void => controller.abort(new DOMException("aborted by the caller", "AbortError"));
  if (caller.aborted) onCaller();
  else caller.addEventListener("abort", onCaller, { once: true });
  expect("connect", limits.connectMs);
  return {
    signal: controller.signal,
    missed: () => missed,
    connected: () => expect("first-token", limits.firstTokenMs),
    alive() {
      // Refreshing one timer is much cheaper than a new timer for every token.
      if (hasToken) timer?.refresh();
    },
    token() {
      if (hasToken) timer?.refresh();
      else expect("stall", limits.stallMs);
      hasToken = true;
    },
    close(cut) {
      clearTimeout(timer);
      caller.removeEventListener("abort", onCaller);
      if (cut) controller.abort(new DOMException("the answer is no longer wanted", "AbortError"));
    },
  };
}
